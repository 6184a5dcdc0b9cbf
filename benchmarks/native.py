"""`python -m benchmarks.native [PART ...]`: native requesters against load generators that others wrote, and what they cost.

A native requester is one that `client: native` stands for. Parts, of which all are run unless some are named:

* `latency`: the median with one request in flight, against wrk and oha (HTTP) and ghz (gRPC), on the same responder with
  the same message. In each round everyone takes a turn, in a new order; each round gives a ratio, ours over theirs. Goal:
  at most 1.
* `throughput`: replies a second with 50 in flight, over the best of the others in the same round. Goal: at least 0.9, with a
  row for every request and every reply verified, which the others do not do.
* `recording`: nanoseconds that a sample costs beside its request, as `benchmarks.recording` has them. Goal: at most 50 for
  two readings of the clock and the row.
* `startup`: from the start of a process, as orch starts it, to its ready line, and of a requester to the end of a trial
  without requests. Goals: 50 ms of what is compiled, 300 ms of Node.js.

The requester and the others stand on one CPU, the responder on another: one that is native, and Python's default. Each part
keeps its raw numbers. With the defaults everything takes less than a quarter of an hour; what is measured on a busy machine
says little.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import recording as recorders
from benchmarks.harness import generators, programs
from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import IDENTITY, pin_requester
from benchmarks.harness.pairs import interval_of_median
from benchmarks.wrk import request_of, trial_of
from orchestrator.catalogue.offers import Client, Protocol, Responder
from orchestrator.catalogue.read import catalogue
from orchestrator.hosts.local.host import LocalHost
from orchestrator.referee.exchange import Exchange
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup

HTTP, GRPC = "rest", "grpc"
OTHERS: Mapping[str, Sequence[str]] = {HTTP: ("wrk", "oha"), GRPC: ("ghz",)}
PAYLOAD_BYTES = 117
MOST_RATIO = 1.0  # of medians with one in flight
LEAST_RATIO = 0.9  # of rates with several
IN_FLIGHT = 50
MOST_START_MS: Mapping[str, float] = {"go": 50.0, "rust": 50.0, "node": 300.0}
STARTED_WITH = "timestamp"
_WARM_UP = Warmup(requests=200, at_least_s=0.2)

Turn = Callable[[], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Who asks one responder: the turns of native clients and of others, each by name."""

    protocol: str
    responder: Responder
    natives: Mapping[str, Turn]
    others: Mapping[str, Turn]


def built(protocol: Protocol) -> list[Client]:
    """The native clients of a protocol that can be started here, in their order."""
    return [client for client in protocol.natives if not programs.why_not(client.language)]


def responders_of(protocol: Protocol) -> list[Responder]:
    """The first native responder that can be started here, and the default one."""
    languages = [client.language.name for client in built(protocol)]
    native = [found for name in languages for found in protocol.responders if found.language.name == name]
    return [*native[:1], protocol.responder()]


def trial(protocol: str, client: str, port: int, in_flight: int, window_s: float, record: Path) -> Trial:
    """What a native requester is asked to do: the same message over and over, for so long."""
    return Trial(
        target=Target(host="127.0.0.1", port=port, identity=IDENTITY),
        protocol=protocol,
        client=client,
        operation="echo",
        payload=Payload(kind="bytes", size=PAYLOAD_BYTES),
        load=Load(concurrency=in_flight, duration_s=window_s),
        warmup=_WARM_UP,
        record=str(record),
    )


def contest(
    on: LocalHost, protocol: Protocol, responder: Responder, port: int, in_flight: int, window_s: int, folder: Path
) -> Contest:
    """Who can take turns here; SystemExit without anybody to compare with."""

    def turn(client: Client) -> Turn:
        asked = trial(protocol.name, client.name, port, in_flight, window_s, folder / f"{client.name}.record")
        return lambda: programs.figures(asked, programs.ask(on, asked)[0])

    others = dict(_others(protocol.name, port, in_flight, window_s, folder))
    if not others:
        raise SystemExit(f"nobody to compare {protocol.name} with: `make referee` installs wrk, oha and ghz")
    return Contest(
        protocol=protocol.name,
        responder=responder,
        natives={client.name: turn(client) for client in built(protocol)},
        others=others,
    )


def _others(protocol: str, port: int, in_flight: int, window_s: int, folder: Path) -> Iterator[tuple[str, Turn]]:
    """The generators that are here and speak the protocol."""
    asked = request_of(trial_of("pycurl", port, in_flight, window_s, folder / "none", PAYLOAD_BYTES))
    if protocol == GRPC:
        from services.python.generated import orch_pb2

        message = orch_pb2.EchoRequest(data=asked.bodies[0]).SerializeToString()
        asked = Exchange(path="orch.v1.Orch/Echo", bodies=(message,))
    for name in OTHERS[protocol]:
        if not (found := generators.find(name)).why:
            contender = generators.Contender(
                found=found, asked=asked, port=port, in_flight=in_flight, window_s=window_s, folder=folder
            )
            yield name, contender.take_turn


def rounds_of(turns: Mapping[str, Turn], count: int, seed: int) -> list[dict[str, dict[str, Any]]]:
    """The figures of each turn, by name; in each round everyone takes one, in an order that changes."""
    for take in turns.values():  # so that the responder is warm, too
        take()
    order = random.Random(seed)  # noqa: S311 - an order, not a secret
    return [{name: _figured(turns[name]()) for name in order.sample(list(turns), len(turns))} for _ in range(count)]


def _figured(found: dict[str, Any]) -> dict[str, Any]:
    rate, cpu_us = found["requests"] / found["window_s"], found["cpu_s"] / found["requests"] * 1e6
    return {**found, "rate_per_s": rate, "cpu_us": cpu_us, "load_average": os.getloadavg()}


Ratio = tuple[float, float, float]
"""A median with its 95 % interval."""


def ratios(
    rounds: Sequence[Mapping[str, Any]], name: str, others: Sequence[str], *, of_rates: bool
) -> dict[str, Ratio]:
    """Of a native client, round by round: its median over that of each other, or its rate over the best of theirs."""
    if of_rates:
        best = [max(turns[other]["rate_per_s"] for other in others) for turns in rounds]
        pairs = zip(rounds, best, strict=True)
        return {"the best": interval_of_median([turns[name]["rate_per_s"] / rate for turns, rate in pairs])}
    return {
        other: interval_of_median([turns[name]["p50_ms"] / turns[other]["p50_ms"] for turns in rounds])
        for other in others
    }


def verdict(found: Ratio, *, of_rates: bool) -> str:
    """Against the goal: `ok` where the median holds it, `MISSED` where the whole interval does not, else `unclear`."""
    median, low, high = found
    is_held = median >= LEAST_RATIO if of_rates else median <= MOST_RATIO
    is_missed = high < LEAST_RATIO if of_rates else low > MOST_RATIO
    return "MISSED" if is_missed else "ok" if is_held else "unclear"


def lines(of: Contest, rounds: Sequence[Mapping[str, Any]], *, of_rates: bool) -> Iterator[str]:
    """A line for each who took turns: medians over the rounds, and of a native client the ratios with their verdicts."""
    for name in (*of.others, *of.natives):
        middle = {
            key: statistics.median(turns[name][key] for turns in rounds)
            for key in ("p50_ms", "p99_ms", "rate_per_s", "cpu_us")
        }
        line = (
            f"{of.protocol:6}{of.responder.name:14}{name:14}{middle['p50_ms'] * 1000:10.1f}{middle['p99_ms'] * 1000:10.1f}"
            f"{middle['rate_per_s']:10,.0f}{middle['cpu_us']:9.1f}"
        )
        if name in of.natives:
            found = ratios(rounds, name, list(of.others), of_rates=of_rates)
            line += "".join(
                f"   / {other}: {ratio[0]:.3f} ({ratio[1]:.3f}-{ratio[2]:.3f}) {verdict(ratio, of_rates=of_rates)}"
                for other, ratio in found.items()
            )
        yield line


_COLUMNS = f"{'':6}{'responder':14}{'who asks':14}{'p50 us':>10}{'p99 us':>10}{'per s':>10}{'CPU us':>9}"


def against_others(part: str, options: argparse.Namespace, on: LocalHost, folder: Path) -> dict[str, Any]:
    """The parts `latency` and `throughput`."""
    of_rates = part == "throughput"
    in_flight = IN_FLIGHT if of_rates else 1
    goal = f"at least {LEAST_RATIO} of the best" if of_rates else f"at most {MOST_RATIO} of each"
    print(f"\n{part}: {in_flight} in flight; goal: {goal}\n{_COLUMNS}", flush=True)
    found = []
    for name in options.protocols:
        protocol = catalogue().protocols[name]
        if not built(protocol):
            raise SystemExit(f"no native client of {name} is built here: `make native`")
        for responder in responders_of(protocol):
            with programs.serving(on, name, responder.name) as (port, _):
                of = contest(on, protocol, responder, port, in_flight, options.window_s, folder)
                turns = {**of.natives, **of.others}
                rounds = rounds_of(turns, options.rounds if not of_rates else math.ceil(options.rounds / 2), in_flight)
            print(*lines(of, rounds, of_rates=of_rates), sep="\n", flush=True)
            found.append(
                {"protocol": name, "responder": responder.name, "natives": list(of.natives), "others": list(of.others)}
                | {"in_flight": in_flight, "rounds": rounds}
            )
    return {"contests": found}


def recording(options: argparse.Namespace, on: LocalHost, folder: Path) -> dict[str, Any]:  # noqa: ARG001 - as all parts
    """What a sample costs beside its request, by the recorder alone."""
    print(f"\nrecording: ns a sample; goal: at most {recorders.MOST_NS:.0f} for a row with two readings of the clock")
    found = {}
    for language in recorders.PROGRAMS:
        if why := recorders.lacking(language):
            print(f"{language:8}not measured: {why}")
            continue
        found[language] = recorders.measured(language, [])
        print(*recorders.lines(language, found[language]), sep="\n", flush=True)
    return {"recorders": found}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def startup(options: argparse.Namespace, on: LocalHost, folder: Path) -> dict[str, Any]:
    """Milliseconds from start to ready of every end of the languages with a goal that are built here."""
    print(
        f"\nstartup: ms from start to ready, {options.starts} starts\n{'':8}{'':10}{'':26}{'median':>8}{'p90':>8}  at most"
    )
    starts = []
    for name, protocol in catalogue().protocols.items():
        ends: tuple[Responder | Client, ...] = (*protocol.responders, *protocol.clients)
        for end in ends:
            language = end.language
            if language.name not in MOST_START_MS or programs.why_not(language):
                continue
            if isinstance(end, Client) and STARTED_WITH not in protocol.operations:
                print(
                    f"{language.name:8}{name:10}{f'requester {end.name}':26}not measured: it carries no {STARTED_WITH}"
                )
                continue
            took = [1000 * once for once in _starts(on, protocol, end, options.starts, folder)]
            median, late, most = statistics.median(took), percentile(took, 0.9), MOST_START_MS[language.name]
            role = "responder" if isinstance(end, Responder) else "requester"
            word = "ABOVE" if median > most else "ok" if late <= most else "p90 above"
            print(
                f"{language.name:8}{name:10}{f'{role} {end.name}':26}{median:8.1f}{late:8.1f}  {most:.0f} {word}",
                flush=True,
            )
            starts.append({"language": language.name, "protocol": name, "role": role, "name": end.name, "ms": took})
    return {"starts": starts}


def _starts(on: LocalHost, protocol: Protocol, end: Responder | Client, count: int, folder: Path) -> Iterator[float]:
    """Seconds of each start."""
    if isinstance(end, Responder):
        for _ in range(count):
            with programs.serving(on, protocol.name, end.name) as (_port, took_s):
                yield took_s
        return
    answering = next((r for r in protocol.responders if r.language == end.language), protocol.responder())
    with programs.serving(on, protocol.name, answering.name) as (port, _):
        for _ in range(count):
            yield programs.ask(
                on,
                Trial(
                    target=Target(host="127.0.0.1", port=port, identity=IDENTITY),
                    protocol=protocol.name,
                    client=end.name,
                    operation=STARTED_WITH,
                    record=str(folder / "start.record"),
                    load=Load(requests=0),
                ),
            )[1]


PARTS: Mapping[str, Callable[[argparse.Namespace, LocalHost, Path], dict[str, Any]]] = {
    "latency": lambda *given: against_others("latency", *given),
    "throughput": lambda *given: against_others("throughput", *given),
    "recording": recording,
    "startup": startup,
}


def main() -> None:
    """Print each part's table, and keep its raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.native", description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all unless given")
    parser.add_argument("--protocols", nargs="+", choices=[HTTP, GRPC], default=[HTTP, GRPC])
    parser.add_argument("--rounds", type=int, default=20, help="of `latency`; half as many of `throughput`")
    parser.add_argument("--window-s", type=int, default=1, help="of each turn")
    parser.add_argument("--starts", type=int, default=20)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    before, pinning = conditions(), pin_requester()
    missing = [why for names in OTHERS.values() for name in names if (why := generators.find(name).why)]
    print(f"before: {told(before)}\n{pinning}" + "".join(f"\n{why}" for why in missing))
    for part in options.parts or PARTS:
        with programs.host() as on:
            content = PARTS[part](options, on, Path(str(on.workspace)))
        chosen = {name: value for name, value in vars(options).items() if name != "parts"}
        about = {"before": before, "after": conditions(), "pinning": pinning, "missing": missing, "options": chosen}
        print(os.path.relpath(keep(f"native_{part}", {**about, **content})))
    print(f"\nafter:  {told(conditions())}")


if __name__ == "__main__":
    main()
