"""A cell over runs: the levels of runs that were made under the same conditions, and the steps between them.

Runs of the same conditions form a line (`environments.MUST_AGREE`, `CONFOUND`); runs of two lines are never compared.
`steps` finds where a line's level changed. A step's ratio is that of the means of its two levels; its interval has the SD
of runs within all levels of the line, and covers what the floors' movement may account for. A step whose interval holds 1
is no change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, sqrt
from typing import Any

import numpy as np

from orchestrator import quantities
from orchestrator.between_runs import environments, run_statistics
from orchestrator.between_runs.changes import Change
from orchestrator.between_runs.matching import differing
from orchestrator.between_runs.run_statistics import Difference, FloorMove
from orchestrator.findings.compare import Statistic
from orchestrator.history.record import RUNNING, Seen
from orchestrator.history.steps import residuals, steps
from orchestrator.quantities import Unit
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval


@dataclass(frozen=True, kw_only=True)
class Step:
    """A new level: a plain ratio of times to the level before (above 1 is slower), and the runs of both levels."""

    verdict: Change
    ratio: float
    interval: Interval
    before: int
    after: int


@dataclass(frozen=True, kw_only=True)
class Point:
    """A cell in one run. `value` and its `interval` are of the trend's statistic: ms, or requests per second.

    `change`: against the run before it in its line, a plain ratio of times. `step`: where a level begins with this run.
    `why`: why the run is on no level; "" where it is. `environment`: the number of its line, from 0. `notes`: conditions
    and versions that differ from the run before and may be what changed.
    """

    run: str
    started: str
    value: float | None
    interval: Interval | None
    environment: int
    change: float | None = None
    step: Step | None = None
    why: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A cell over runs, oldest first. `environments`: for each line, how it differs from the first one."""

    cell: str
    label: str
    statistic: Statistic
    points: tuple[Point, ...]
    environments: tuple[tuple[str, ...], ...]

    @property
    def longest_line(self) -> int:
        """How many valid runs the line of most runs has."""
        counts = Counter(point.environment for point in self.points if not point.why)
        return max(counts.values(), default=0)


def trend(seen: Sequence[Seen], statistic: Statistic = "median") -> Trend:
    """The trend of one cell, from its runs (`Index.seen`), oldest first."""
    lines: list[dict[str, str]] = []
    for run in seen:
        if _line(run) not in lines:
            lines.append(_line(run))
    facts: dict[str, dict[str, Any]] = {run.run: {"why": _unusable(run, statistic)} for run in seen}
    for line in lines:
        usable = [run for run in seen if _line(run) == line and not facts[run.run]["why"]]
        for before, run in pairwise(usable):
            change = exp(_log(run, statistic) - _log(before, statistic))
            facts[run.run] |= {"change": change, "notes": tuple(environments.changes(run, before))}
        for run, step in _steps(usable, statistic):
            facts[run.run]["step"] = step
    newest = seen[-1].cell
    return Trend(
        cell=newest.cell,
        label=newest.label,
        statistic=statistic,
        points=tuple(_point(run, statistic, lines.index(_line(run)), facts[run.run]) for run in seen),
        environments=tuple(tuple(differing(line, lines[0], missing="not known")) for line in lines),
    )


def _point(seen: Seen, statistic: Statistic, environment: int, facts: dict[str, Any]) -> Point:
    value, interval = getattr(seen.cell, statistic), getattr(seen.cell, f"{statistic}_interval")
    return Point(run=seen.run, started=seen.started, value=value, interval=interval, environment=environment, **facts)


def _steps(line: Sequence[Seen], statistic: Statistic) -> Iterator[tuple[Seen, Step]]:
    logs = np.array([_log(run, statistic) for run in line])
    starts = steps(logs.tolist())
    edges = [0, *starts, len(line)]
    freedom = len(line) - len(starts) - 1
    sd = sqrt(float(np.sum(residuals(logs, starts) ** 2)) / freedom) if starts else 0.0
    for first, start, end in zip(edges[:-2], starts, edges[2:], strict=True):
        old, new = line[first:start], line[start:end]
        difference = Difference(
            mean=float(logs[start:end].mean() - logs[first:start].mean()),
            se=sd * sqrt(1 / len(old) + 1 / len(new)),
            freedom=freedom,
            shift=run_statistics.shift(_moves(new, old)),
        )
        interval = difference.interval(intervals.ALPHA / len(starts))
        low, high = interval
        verdict: Change = "regressed" if low > 1 else "improved" if high < 1 else "not resolved"
        step = Step(verdict=verdict, ratio=exp(difference.mean), interval=interval, before=len(old), after=len(new))
        yield line[start], step


def _unusable(seen: Seen, statistic: Statistic) -> str:
    """Why a run is shown and not compared, as a clause; "" where it is."""
    if seen.cell.failed_checks:
        return f"invalid: {', '.join(seen.cell.failed_checks)} failed"
    if seen.state == RUNNING:  # one that `limits.wall` or a person ended has whole blocks
        return "the run has not ended"
    if statistic not in seen.cell.evidence.means:
        if seen.cell.errors:
            return (
                f"{quantities.no_reply(seen.cell.errors, seen.cell.requests)}: its {statistic} is not known in every "
                f"trial"
            )
        return f"fewer than {intervals.FEWEST_BLOCKS} trials have a {statistic}"
    waited = seen.cell.evidence.pressure
    if waited > environments.OVERLOADED:
        return f"the machine was overloaded: something waited for a CPU for {quantities.percent(waited)} of a trial"
    return ""


def _line(seen: Seen) -> dict[str, str]:
    kinds = (*environments.MUST_AGREE, *environments.CONFOUND)
    return {each.kind: each.value for each in seen.conditions if each.kind in kinds}


def _moves(new: Sequence[Seen], old: Sequence[Seen]) -> Iterator[FloorMove]:
    for kind in ("tcp", "ping"):
        mine, theirs = ([ms for run in level for ms in run.cell.evidence.floors.get(kind, ())] for level in (new, old))
        if move := run_statistics.move_of("tcp" if kind == "tcp" else "ping", mine, theirs):
            yield move


def _log(seen: Seen, statistic: Statistic) -> float:
    return seen.cell.evidence.means[statistic]


def letter(number: int) -> str:
    """What a line of runs that were made under the same conditions is called, by its number from 0."""
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def step_clause(point: Point) -> str:
    """What a run's step is, as a clause; else why the run is on no level, or "" for one that is."""
    if point.step is None:
        return point.why
    low, high = quantities.bounds(point.step.interval)
    moved = "the floors moved, too: " if point.step.verdict == "not resolved" else ""
    levels = f"the {point.step.before} runs before, over {point.step.after} runs"
    return f"{moved}{point.step.verdict}: {quantities.factor(point.step.ratio)}× ({low} to {high}) of {levels}"


def unit_of(trend: Trend) -> Unit:
    """The unit of a trend's latencies."""
    return quantities.unit_for(point.value for point in trend.points)


def figures(point: Point, statistic: Statistic, unit: Unit) -> tuple[str, str, str]:
    """The value of a run, its interval, and its ratio to the run before, as texts; a dash for what is not known."""
    text = quantities.rate if statistic == "throughput" else unit.text
    return (
        "-" if point.value is None else text(point.value),
        "-" if point.interval is None else " to ".join(map(text, point.interval)),
        "-" if point.change is None else quantities.ratio(point.change),
    )
