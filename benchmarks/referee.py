"""`python -m benchmarks.referee`: how small a fault the check *referee* finds nine times in ten, and its false alarms.

Rounds of a run of `orch run --referee` are drawn anew (`--run`, a cell each, at its tool's tolerance), or made up: latencies
whose trials scatter as such runs' do (`--scatter`, the standard deviation of a round's ratio). Into each drawn run one fault
of our requester is put, of growing size; the smallest that the check finds in nine of ten is told, and in how many runs
without a fault it fails.
"""

from __future__ import annotations

import argparse
import json
import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.harness.conditions import keep
from orchestrator.checks.ends.referee import compare
from orchestrator.findings.summary import TrialSummary
from orchestrator.referee.generators import TOOLS
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import TurnRecord

OFTEN = 0.9
_SIZES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a cell: medians in milliseconds, requests per second."""

    ours_ms: float
    theirs_ms: float
    ours_per_s: float
    theirs_per_s: float


Fault = Callable[[Round, float], tuple[float, float]]
"""What a fault of that size makes of our median and of our requests per second."""

FAULTS: dict[str, Fault] = {
    "each request takes so much longer (share)": lambda r, size: (r.ours_ms * (1 + size), r.ours_per_s / (1 + size)),
    "the clock starts late (share of the median)": lambda r, size: (r.ours_ms * (1 - size), r.ours_per_s),
    "requests counted again (share)": lambda r, size: (r.ours_ms, r.ours_per_s * (1 + size)),
    "requests dropped from the record (share)": lambda r, size: (r.ours_ms, r.ours_per_s * (1 - size)),
}


def verdict(rounds: Sequence[Round], within: float, fault: Fault | None = None, size: float = 0.0) -> str:
    """What the check says of a run with these rounds."""
    trials, turns = [], []
    for block, one in enumerate(rounds):
        median, rate = fault(one, size) if fault else (one.ours_ms, one.ours_per_s)
        trials.append(_trial(block, median, rate))
        turns.append(_turn(block, one))
    found = compare(trials, turns, within)
    return "cannot tell" if found is None else found.agreement


def _trial(block: int, median: float, rate: float) -> TrialSummary:
    return TrialSummary(
        index=block,
        block=block,
        n=round(rate * _SECONDS),
        errors=0,
        median=median,
        p99=None,
        mean=None,
        minimum=None,
        throughput_per_s=rate,
        cpu_share=None,
        started_wall_ns=0,
    )


def _turn(block: int, one: Round) -> TurnRecord:
    return TurnRecord(
        index=block,
        block=block,
        cell="cell",
        attempt=0,
        tool="wrk",
        came_first=bool(block % 2),
        started_wall_ns=0,
        requests=max(1, round(one.theirs_per_s * _SECONDS)),
        window_s=_SECONDS,
        median_ns=one.theirs_ms * 1e6,
    )


def made_up(rng: random.Random, rounds: int, centre: float, scatter: float) -> list[Round]:
    """Rounds of a cell of 0.2 ms whose ratios scatter around `centre`, as a share; rate follows latency."""
    found = []
    for _ in range(rounds):
        theirs = 0.2 * (1 + rng.gauss(0, scatter))
        ours = 0.2 * centre * (1 + rng.gauss(0, scatter))
        found.append(Round(ours_ms=ours, theirs_ms=theirs, ours_per_s=1e3 / ours, theirs_per_s=1e3 / theirs))
    return found


def of_run(run: Path) -> Iterator[tuple[str, str, list[Round]]]:
    """Each cell of a run that has a referee, with who asked it and its rounds; SystemExit where it has none."""
    from orchestrator.summarise import summarise

    folder = RunFolder.open(run)
    manifest, summary = folder.manifest(), summarise(folder)
    for cell in summary.cells:
        trials = {t.block: t for t in cell.trials if t.median}
        rounds = [
            Round(
                ours_ms=float(trials[turn.block].median or 0.0),
                theirs_ms=turn.median_ns / 1e6,
                ours_per_s=trials[turn.block].throughput_per_s,
                theirs_per_s=turn.requests / turn.window_s,
            )
            for turn in manifest.turns
            if turn.cell == cell.id and turn.median_ns and turn.requests and turn.window_s and turn.block in trials
        ]
        if rounds:
            yield cell.labels.stack, next(turn.tool for turn in manifest.turns if turn.cell == cell.id), rounds
    if not manifest.turns:
        raise SystemExit(f"{run} has no referee: orch run FILE --referee any makes a run that has one")


def measured(draw: Callable[[random.Random], list[Round]], within: float, runs: int) -> dict[str, Any]:
    """How often a run without a fault fails, and of each fault the smallest size that is found."""
    rng = random.Random(7)  # noqa: S311 - draws, no secret
    clean = [verdict(draw(rng), within) for _ in range(runs)]
    smallest: dict[str, float | None] = {}
    for name, fault in FAULTS.items():

        def is_found(size: float, fault: Fault = fault) -> bool:
            return sum(verdict(draw(rng), within, fault, size) == "differs" for _ in range(runs)) >= OFTEN * runs

        place = bisect_left(_SIZES, True, key=is_found)  # a larger fault is found as often, or more so
        smallest[name] = _SIZES[place] if place < len(_SIZES) else None
    return {
        "runs": runs,
        "false_alarms": clean.count("differs"),
        "undecided": clean.count("cannot tell"),
        "smallest": smallest,
    }


def table(results: Sequence[dict[str, Any]]) -> list[str]:
    """The rows of docs/validation/referee-simulated.csv and referee-measured.csv."""
    rows = []
    for of in results:
        told = of["rounds_of"].removeprefix("made up, ratio ").replace(", scatter ", " | ").replace("%", " %")
        found = [f"{size * 100:.0f} %" if size is not None else "none tried" for size in of["smallest"].values()]
        cells = [told, f"{of['within'] * 100:.0f} %", *found, f"{of['false_alarms']}, {of['undecided']}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Print what was found, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.referee", description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, action="append", default=[], help="a run of orch run --referee; repeatable")
    parser.add_argument("--rounds", type=int, nargs="+", default=[10])
    parser.add_argument("--within", type=float, nargs="+", default=[0.1, 0.35, 0.5])
    parser.add_argument("--scatter", type=float, nargs="+", default=[0.02, 0.05, 0.1])
    parser.add_argument("--centre", type=float, nargs="+", default=[1.0, 1.1])
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    draws: list[tuple[str, Callable[[random.Random, int], list[Round]], list[float]]] = [
        (f"made up, ratio {centre:g}, scatter {scatter:.0%}", _made_up(centre, scatter), options.within)
        for centre in options.centre
        for scatter in options.scatter
    ]
    for run in options.run:
        for cell, tool, kept in of_run(run):
            draws.append((f"{cell}, beside {tool} | {_ratios(kept)}", _drawn(kept), [TOOLS[tool].within]))
    results = []
    for told, draw, tolerances in draws:
        for within in tolerances:
            for rounds in options.rounds:
                found = measured(lambda rng, n=rounds, d=draw: d(rng, n), within, options.runs)  # type: ignore[misc]
                results.append({"rounds_of": told, "within": within, "rounds": rounds, **found})
                print(json.dumps(results[-1]), flush=True)
    print(*table(results), sep="\n")
    print(keep("referee", {"results": results}))


def _ratios(kept: Sequence[Round]) -> str:
    """Ours over theirs, of the medians and of the requests per second: geometric means over the rounds."""
    medians = geometric_mean(one.ours_ms / one.theirs_ms for one in kept)
    return f"{medians:.2f}, {geometric_mean(one.ours_per_s / one.theirs_per_s for one in kept):.2f}"


def _made_up(centre: float, scatter: float) -> Callable[[random.Random, int], list[Round]]:
    return lambda rng, rounds: made_up(rng, rounds, centre, scatter)


def _drawn(kept: list[Round]) -> Callable[[random.Random, int], list[Round]]:
    return lambda rng, rounds: rng.choices(kept, k=rounds)


if __name__ == "__main__":
    main()
