"""Turns against one measured phase a trial: the figures of docs/validation, from real runs on this machine.

    python -m benchmarks.turns quickstart --runs 20 --minutes 60 [--neighbour]
    python -m benchmarks.turns equal | injected | pollers | stacks | small-hosts
    python -m benchmarks.turns table

Each run is one entry of `results/turns.json`, kept as soon as it ends. A part goes on where it stopped, until it has so many
runs of each design; no run begins that would likely end after `--minutes`. `--neighbour` computes for two seconds and
rests for two seconds beside the runs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.harness.conditions import RESULTS, conditions, keep
from benchmarks.turns_table import table
from orchestrator.catalogue.read import protocols

ROOT = Path(__file__).resolve().parents[1]
RAN = (0, 4, 5)  # all well; trials failed; a check failed
BURST = "import time\nwhile True:\n end=time.monotonic()+2\n while time.monotonic()<end: pass\n time.sleep(2)\n"
_ROUNDS = 1500  # of SHA-256, about a millisecond

_OTHERS = ("equal", "injected", "pollers", "stacks", "small-hosts")

OFF = ("--set", "turn='off'")
"""One measured phase a trial."""

_OWN = """\
name: {name}
question: How far apart do services lie whose difference is known?
services:
{services}
stacks:
{stacks}
load: {{duration: {duration}}}
warmup: {{requests: 100, at_least: 100ms}}
repeats: {repeats}
matters: 0.2%
limits: {{wall: 20m}}
"""
_STACKS = """\
name: stacks
question: Do medians with turns agree with those without?
stacks:
{stacks}
operations: timestamp
load: {{duration: 300ms}}
warmup: {{requests: 200, at_least: 200ms}}
repeats: 5
limits: {{wall: 90m}}
"""
_SMALL_HOSTS = """\
name: small-hosts
question: Do turns help on hosts with a fifth of a core?
provider: lab
machine: f1-micro
stacks: [rest, websocket, grpc]
operations: timestamp
placements: [same-zone]
load: {duration: 3s}
warmup: {requests: 50, at_least: 500ms}
repeats: 5
control: true
limits: {wall: 20m}
"""


@dataclass(frozen=True)
class Part:
    """An experiment, and what is added to `orch run` for each design."""

    text: str
    designs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"turns": ()})


def own(name: str, work: Mapping[str, str], *, duration: str, repeats: int) -> str:
    """An experiment with a service for each kind of work, by its arguments."""
    script = "{python} work_service.py --address {address} --port {port}"
    services = "\n".join(f'  {key}: {{start: "{script} {given}", folder: .}}' for key, given in work.items())
    stacks = "\n".join(
        f'  - {{name: {key}, service: {key}, call: {{http: "GET /", expect: {{status: 200}}}}}}' for key in work
    )
    return _OWN.format(name=name, services=services, stacks=stacks, duration=duration, repeats=repeats)


def all_stacks() -> str:
    """Every server with its protocol's default client, and every client with the default server, of usable languages."""
    told = subprocess.run([orch(), "services", "--json"], capture_output=True, text=True, check=True, cwd=ROOT)
    usable = {row["name"] for row in json.loads(told.stdout)["languages"] if not row["why"]}
    lines = []
    for protocol in protocols().values():
        if protocol.is_floor or "timestamp" not in protocol.operations:
            continue
        client, server = protocol.default_client(1), protocol.responders[0]
        pairs = [(end, client) for end in protocol.responders] + [(server, end) for end in protocol.clients]
        for responder, asking in pairs:
            if responder.name == "flask":  # closes its connections
                continue
            if {responder.language.name, asking.language.name} <= usable and asking.kind == "call":
                names = f"protocol: {protocol.name}, responder: {responder.name}, client: {asking.name}"
                lines.append(f"  - {{{names}}}")
    return _STACKS.format(stacks="\n".join(dict.fromkeys(lines)))


def part(name: str) -> Part:
    """What a part measures."""
    both: dict[str, tuple[str, ...]] = {"turns": (), "off": OFF}
    same = f"--rounds {_ROUNDS}"
    if name == "equal":
        return Part(own(name, {f"s{number}": same for number in range(12)}, duration="300ms", repeats=5))
    if name == "injected":
        work = {"base": same, "equal": same}
        work |= {f"plus-{share}": f"--rounds {_ROUNDS * (100 + share) // 100}" for share in (1, 5, 100)}
        return Part(own(name, work | {"plus-5-ms": f"{same} --sleep-ms 5"}, duration="500ms", repeats=6), both)
    if name == "pollers":
        polls = {f"poll-{percent}": f"{same} --poll {percent / 100}" for percent in (2, 10, 30)}
        work = {f"s{number}": same for number in range(4)} | polls
        return Part(own(name, work, duration="300ms", repeats=5))
    if name == "stacks":
        return Part(all_stacks(), both)
    if name == "small-hosts":
        return Part(_SMALL_HOSTS, both)
    return Part((ROOT / "experiments" / "quickstart.yaml").read_text(encoding="utf-8"), both)


def orch() -> str:
    """The program of this environment."""
    return str(Path(sys.executable).with_name("orch"))


@contextmanager
def neighbour(*, is_wanted: bool) -> Iterator[None]:
    """A program that uses half a CPU, pinned to none."""
    if not is_wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", BURST]) as program:
        try:
            yield
        finally:
            program.kill()


def run(experiment: Part, design: str) -> dict[str, Any]:
    """Measure once, in a folder of its own that is removed: seconds, comparisons, medians, and the time between turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "turns.yaml").write_text(experiment.text, encoding="utf-8")
        shutil.copy(ROOT / "benchmarks" / "harness" / "work_service.py", folder)
        began_s = time.monotonic()
        ended = subprocess.run(
            [orch(), "run", "turns.yaml", "--share-machine", "--json", *experiment.designs[design]],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        elapsed_s = time.monotonic() - began_s
        if ended.returncode not in RAN:
            raise SystemExit(f"orch ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
        results = folder / json.loads(ended.stdout)["folder"]
        summary, checks = (json.loads((results / f"{name}.json").read_text("utf-8")) for name in ("summary", "checks"))
        return {"elapsed_s": round(elapsed_s, 1), **figures(summary, checks), "between": between(results)}


def figures(summary: Mapping[str, Any], checks: Mapping[str, Any]) -> dict[str, Any]:
    """What the table needs of a run."""
    wanted = (
        "stack",
        "reference_label",
        "stack_label",
        "statistic",
        "ratio",
        "interval",
        "standing",
        "control",
        "by_block",
    )
    return {
        "comparisons": [{key: c[key] for key in wanted} for c in summary["comparisons"]],
        "cells": [
            {"stack": c["labels"]["stack"], "id": c["id"], "interval": c["median_interval"]} for c in summary["cells"]
        ],
        "checks": [
            f"{c['name']}, {c['cell']}: {c['explanation']}"
            for c in checks["checks"]
            if c["verdict"] in ("warn", "fail")
        ],
    }


def between(results: Path) -> dict[str, list[float]]:
    """Milliseconds between turns, middle and p95: all of it, and without the next turn's warm-up; empty without turns."""
    events = [json.loads(line) for line in (results / "journal.jsonl").read_text(encoding="utf-8").splitlines()]
    trials = [event["trial"] for event in events if event["event"] == "trial" and event["trial"]["outcome"] == "ok"]
    whole, work = [], []
    for block in {trial["block"] for trial in trials if trial["turns"]}:
        turns = []
        for trial in (trial for trial in trials if trial["block"] == block):
            rows = pq.read_table(
                results / trial["requesters"][0]["samples"], columns=["sent_ns", "received_ns", "phase"]
            )
            sent, received, phase = (rows[name].to_numpy() for name in ("sent_ns", "received_ns", "phase"))
            warm = np.stack([sent[phase == 0], received[phase == 0]])
            turns += [(turn["begin_ns"], turn["end_ns"], warm) for turn in trial["turns"]]
        for (_, ended_ns, _), (begin_ns, _, warm) in pairwise(sorted(turns, key=lambda turn: turn[0])):
            before = warm[:, (warm[0] > ended_ns) & (warm[0] < begin_ns)]
            warm_ns = before[1].max() - before[0].min() if before.size else 0
            whole.append((begin_ns - ended_ns) / 1e6)
            work.append((begin_ns - ended_ns - warm_ns) / 1e6)
    if not whole:
        return {}
    return {
        name: [round(float(q), 3) for q in np.quantile(v, (0.5, 0.95))]
        for name, v in (("whole", whole), ("work", work))
    }


def stored() -> list[dict[str, Any]]:
    """All runs so far."""
    path = RESULTS / "turns.json"
    return json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []


def measure(name: str, wanted: Mapping[str, int], minutes: float, *, beside: bool) -> None:
    """Make the runs of a part that are still missing, alternating designs, as long as there is time."""
    experiment, until_s = part(name), time.monotonic() + 60 * minutes
    setting = f"{name} beside a neighbour" if beside else name
    longest_s = dict.fromkeys(experiment.designs, 0.0)
    with neighbour(is_wanted=beside):
        for number in range(max(wanted.values())):
            for design in list(experiment.designs)[:: 1 if number % 2 == 0 else -1]:
                runs = stored()
                have = sum(entry["setting"] == setting and entry["design"] == design for entry in runs)
                if have > number or number >= wanted[design]:
                    continue
                if time.monotonic() + longest_s[design] > until_s:
                    return
                entry = {"setting": setting, "design": design, "conditions": conditions(), **run(experiment, design)}
                longest_s[design] = max(longest_s[design], entry["elapsed_s"])
                keep("turns", {"runs": [*stored(), entry]})
                sys.stdout.write(
                    f"{setting}, {design}: run {number + 1} of {wanted[design]}, {entry['elapsed_s']:.0f} s\n"
                )
                sys.stdout.flush()


def main(words: Sequence[str] | None = None) -> None:
    """Measure a part, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("quickstart", *_OTHERS, "table"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--off", type=int, help="runs without turns; as many as with them unless given")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--neighbour", action="store_true")
    given = parser.parse_args(words)
    if given.part != "table":
        wanted = {"turns": given.runs, "off": given.runs if given.off is None else given.off}
        measure(given.part, wanted, given.minutes, beside=given.neighbour)
    for line in table(stored()):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
