"""`python -m benchmarks.wrk`: orch's requester against wrk, on the same responder with the same bytes, taking turns.

In each round wrk and every client ask in a new order, each with its own connections and for the same time: the requester as
a whole trial of its own (`programs.request`: every reply verified, every row in its record), wrk with one thread. Both
stand on one CPU, the responder on another. Each round gives a ratio for each client: of the rates and of the p99, client
over wrk. The medians over the rounds are shown, with their 95 % intervals. First on the machine as it is, then beside
two processes that do nothing but compute, one on each CPU.

`--replayed` asks a responder that gives FastAPI's replies from memory: there the client is the limit, and the ratio is
how much of wrk's rate it reaches. `--in-flight 1 10 50` shows that for each concurrency.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import generators
from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import IDENTITY, cpus, pin_requester, responder
from benchmarks.harness.pairs import interval_of_median
from benchmarks.harness.replay import replaying
from orchestrator.referee.exchange import Exchange, of_latencies
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.load.phases import MEASURED
from services.python.load.record import read_record
from services.python.probes.counters import host_counters
from services.python.transports.http.route import Route
from services.python.trial.parts import load_parts

WRK = "wrk"
PROTOCOL, RESPONDER, OPERATION = "rest", "fastapi", "echo"
QUIET, BESIDE = "as it is", "beside two busy processes"
LEAST_RATE = {QUIET: 1.0, BESIDE: 0.85}
MOST_P99 = {QUIET: 1.2}
GOAL_IN_FLIGHT = 50
_WARM_UP_S = 1.0


def trial_of(client: str, port: int, in_flight: int, window_s: float, record: Path, payload_bytes: int) -> Trial:
    """What the requester is asked to do."""
    return Trial(
        target=Target(host="127.0.0.1", port=port, identity=IDENTITY),
        protocol=PROTOCOL,
        client=client,
        operation=OPERATION,
        payload=Payload(kind="bytes", size=payload_bytes),
        load=Load(concurrency=in_flight, duration_s=window_s),
        warmup=Warmup(requests=500, at_least_s=_WARM_UP_S),
        record=str(record),
    )


def request_of(trial: Trial) -> Exchange:
    """The request that such a trial sends, with all the header fields that a client is given."""
    parts = load_parts(trial)
    example = parts.make(1, time.time_ns)
    route: Route = parts.dialer(OPERATION, example).route
    return Exchange(path=route.path, fields=route.fields(), bodies=(route.encode(example),))


def run_requester(trial: Trial) -> dict[str, Any]:
    """A trial's figures, from its record; SystemExit unless every reply was right and every request has its row."""
    argv = [sys.executable, "-m", "services.python.programs.request"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as requester:
        assert requester.stdin is not None
        assert requester.stdout is not None
        requester.stdin.write(trial.to_json() + "\n")
        requester.stdin.flush()
        done = [json.loads(line) for line in requester.stdout][-1]
    rows = [row for row in read_record(trial.record) if row.phase == MEASURED] if done["type"] == "done" else []
    if done.get("errors") != {} or not done["verified"] == done["requests"] == len(rows):
        raise SystemExit(f"{trial.client}: not every request had a right reply and a row: {done}")
    figures = of_latencies(((row.received_ns - row.sent_ns) // 1000 * 1000 for row in rows), done["measured_s"])
    return {
        "requests": len(rows),
        "window_s": done["measured_s"],
        "p50_ms": figures.median_ns / 1e6,
        "p99_ms": figures.p99_ns / 1e6,
        "cpu_s": done["cpu_s"],
        "done": {name: done[name] for name in ("verified", "verified_by_bytes", "verified_in_flight", "loop_lag_ms")},
    }


def measured(who: str, trial: Trial, asked: Exchange, folder: Path) -> dict[str, Any]:
    """One turn: its figures, and how many CPUs everybody else used meanwhile (the responder among them)."""
    before = host_counters()
    if who == WRK:
        assert trial.load.duration_s is not None
        assert trial.target is not None
        found = generators.Contender(
            found=generators.require(WRK),
            asked=asked,
            port=trial.target.port,
            in_flight=trial.load.concurrency,
            window_s=round(trial.load.duration_s),
            folder=folder,
        ).take_turn()
    else:
        found = run_requester(trial)
    after = host_counters()
    used = None
    if before.cpu_ticks and after.cpu_ticks and before.monotonic_ns and after.monotonic_ns and after.tick_hz:
        busy_s = (after.cpu_ticks["busy"] - before.cpu_ticks["busy"]) / after.tick_hz
        used = busy_s / ((after.monotonic_ns - before.monotonic_ns) / 1e9)
    return {
        "who": who,
        **found,
        "rate_per_s": found["requests"] / found["window_s"],
        "cpu_us": found["cpu_s"] / found["requests"] * 1e6,
        "cpu_share": found["cpu_s"] / found["window_s"],
        "machine_cpus": used,
        "load_average": os.getloadavg(),
    }


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that compute without end, spread over the CPUs; gone when the block ends."""
    places = cpus()

    def pin(place: int) -> None:
        if places:
            os.sched_setaffinity(0, {places[place % len(places)]})

    with ExitStack() as started:
        for place in range(count):
            argv = [sys.executable, "-c", "while True: pass"]
            process = subprocess.Popen(argv, preexec_fn=partial(pin, place))
            started.callback(process.wait)
            started.callback(process.kill)
        yield


def rounds_of(names: list[str], options: argparse.Namespace, in_flight: int, port: int, folder: Path) -> list[Any]:
    """The turns of each round, by name, in an order that changes."""
    order, rounds = random.Random(in_flight), []  # noqa: S311 - an order, not a secret
    trials = {
        name: trial_of(
            options.clients[0] if name == WRK else name,
            port,
            in_flight,
            options.window_s,
            folder / f"{name}.record",
            options.payload_bytes,
        )
        for name in names
    }
    asked = request_of(trials[WRK])
    for name in names:  # so that the responder is warm, too
        measured(name, trials[name], asked, folder)
    for number in range(options.rounds):
        turns = {name: measured(name, trials[name], asked, folder) for name in order.sample(names, len(names))}
        rounds.append(turns)
        if options.rows is not None:
            for name in options.clients:
                shutil.copy(folder / f"{name}.record", options.rows / f"{in_flight}-{number}-{name}.record")
    return rounds


def ratios(rounds: list[Mapping[str, Any]], client: str, of: str) -> tuple[float, float, float]:
    """Client over wrk, round by round: the median, and its 95 % interval."""
    return interval_of_median([turns[client][of] / turns[WRK][of] for turns in rounds])


def verdict(state: str, in_flight: int, rate: tuple[float, float, float], p99: tuple[float, float, float]) -> str:
    """Against the goals, which are for `GOAL_IN_FLIGHT`; `unclear` where an interval has the goal in it."""
    if in_flight != GOAL_IN_FLIGHT:
        return ""
    goals = [(rate[0] >= LEAST_RATE[state], rate[2] < LEAST_RATE[state])]
    if state in MOST_P99:
        goals.append((p99[0] <= MOST_P99[state], p99[1] > MOST_P99[state]))
    if any(is_missed for _, is_missed in goals):
        return "MISSED"
    return "ok" if all(is_met for is_met, _ in goals) else "unclear"


_COLUMNS = (
    f"{'in flight':>9}  {'who':14}{'per s':>9}{'p50 ms':>9}{'p99 ms':>9}{'CPU us':>8}{'CPU':>6}{'machine':>9}"
    f"{'rate / wrk':>24}{'p99 / wrk':>24}"
)


def lines(
    state: str, in_flight: int, rounds: list[Mapping[str, Any]], names: list[str], *, has_goals: bool
) -> Iterator[str]:
    """A line for each of them: medians over the rounds, and ratios of the pairs."""
    for name in names:
        middle = {
            of: statistics.median(turns[name][of] for turns in rounds)
            for of in ("rate_per_s", "p50_ms", "p99_ms", "cpu_us", "cpu_share")
        }
        used = [turns[name]["machine_cpus"] for turns in rounds if turns[name]["machine_cpus"] is not None]
        line = (
            f"{in_flight:9}  {name:14}{middle['rate_per_s']:9,.0f}{middle['p50_ms']:9.2f}{middle['p99_ms']:9.2f}"
            f"{middle['cpu_us']:8.1f}{middle['cpu_share']:6.0%}{statistics.median(used) if used else float('nan'):9.2f}"
        )
        if name != WRK:
            rate, p99 = ratios(rounds, name, "rate_per_s"), ratios(rounds, name, "p99_ms")
            line += "".join(f"{m:10.3f} ({low:.3f}-{high:.3f})" for m, low, high in (rate, p99))
            line += f"  {verdict(state, in_flight, rate, p99)}" if has_goals else ""
        yield line


def main() -> None:
    """Print the table and keep the raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wrk", description=__doc__.split("\n")[0])
    parser.add_argument("--clients", nargs="+", default=["pycurl", "pycurl-multi"])
    parser.add_argument("--in-flight", nargs="+", type=int, default=[GOAL_IN_FLIGHT])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--window-s", type=int, default=3)
    parser.add_argument("--payload-bytes", type=int, default=117)
    parser.add_argument("--states", nargs="+", choices=["quiet", "beside"], default=["quiet", "beside"])
    parser.add_argument("--replayed", action="store_true", help="a responder that is not the limit")
    parser.add_argument("--rows", type=Path, help="a folder that every record is kept in; about 110 B a request")
    options = parser.parse_args()
    generators.require(WRK)
    if options.rows is not None:
        options.rows.mkdir(parents=True, exist_ok=True)
    before, pinning, names = conditions(), pin_requester(), [WRK, *options.clients]
    answering = f"{RESPONDER}, replayed from memory" if options.replayed else RESPONDER
    print(f"before: {told(before)}\n{pinning}; {PROTOCOL} answered by {answering}; {options.rounds} rounds")
    found: list[dict[str, Any]] = []
    for state in (QUIET if name == "quiet" else BESIDE for name in options.states):
        print(f"\n{state}\n{_COLUMNS}", flush=True)
        with ExitStack() as ends:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
            _, ready = ends.enter_context(responder(PROTOCOL, RESPONDER))
            port = ends.enter_context(replaying(ready["port"])) if options.replayed else ready["port"]
            ends.enter_context(busy_processes(2 if state == BESIDE else 0))
            for in_flight in options.in_flight:
                rounds = rounds_of(names, options, in_flight, port, folder)
                found.append({"state": state, "in_flight": in_flight, "rounds": rounds})
                print(*lines(state, in_flight, rounds, names, has_goals=not options.replayed), sep="\n", flush=True)
    after = conditions()
    print(f"\nafter:  {told(after)}")
    chosen = {name: value for name, value in vars(options).items() if name != "rows"}
    content = {"before": before, "after": after, "pinning": pinning, "options": chosen, "settings": found}
    print(f"\n{os.path.relpath(keep('wrk_replayed' if options.replayed else 'wrk', content))}")


if __name__ == "__main__":
    main()
