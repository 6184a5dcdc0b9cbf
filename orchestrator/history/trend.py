"""A cell over runs: each run against the earlier ones, by the model of `orch compare` (`between_runs`).

Runs that were made under the same conditions form a line (`environments.MUST_AGREE`, `CONFOUND`); runs of two lines are
never compared. Along a line, a run is compared with all earlier ones since the last change
whose noise and floors are like its own, taken together: their mean has the error of a mean, each with the variance of a
run. The spread between runs is estimated from the runs between changes once these give `FEWEST_RUNS` - 1 degrees of
freedom, and assumed before. A run is a change where the whole interval of its ratio leaves 1 out and does not lie within
what matters; there the level begins anew, and the spread is kept.

A series of n runs makes n - 1 comparisons, so each interval has level 1 - 5 %/(n - 1): where nothing changed, a change is
marked in at most 5 % of series, as far as the model holds (docs/validation/README.md has the simulation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import exp, sqrt
from typing import Any

from orchestrator import quantities
from orchestrator.between_runs import environments, run_statistics
from orchestrator.between_runs.across import CHANGES, Change
from orchestrator.between_runs.run_statistics import FEWEST_RUNS, FloorMove, RunMean, Spread
from orchestrator.findings.compare import Statistic
from orchestrator.history.record import Seen
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.terms import Interval


@dataclass(frozen=True, kw_only=True)
class Point:
    """A cell in one run. Latencies are ms, throughput is per second.

    `change`: against the run before it in its line, a plain ratio of times (above 1 is slower). `ratio`, `interval` and
    `verdict`: against `earlier` earlier runs. `why`: what the verdict rests on, or why there is none. `environment`: the
    number of its line, from 0. `notes`: conditions and versions that differ from the run before and may be what changed.
    """

    run: str
    started: str
    state: str
    median: float | None
    median_interval: Interval | None
    p99: float | None
    p99_interval: Interval | None
    throughput: float | None
    throughput_interval: Interval | None
    environment: int
    change: float | None = None
    ratio: float | None = None
    interval: Interval | None = None
    verdict: Change = "cannot tell"
    why: str = ""
    earlier: int = 0
    is_change: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A cell over runs, oldest first. `environments`: for each line, how it differs from the first one."""

    cell: str
    label: str
    statistic: Statistic
    points: tuple[Point, ...]
    environments: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class _Usable:
    """A run that can be compared."""

    seen: Seen
    mean: RunMean


@dataclass
class _Line:
    """Runs made under the same conditions, in the parts between changes; the last part is the present level."""

    conditions: dict[str, str]
    parts: list[list[_Usable]] = field(default_factory=lambda: [[]])

    @property
    def last(self) -> _Usable | None:
        return next((run for part in reversed(self.parts) for run in reversed(part)), None)

    def spread(self, statistic: Statistic, above: float) -> Spread:
        """Within the parts: what changed between them is no spread."""
        logs = [[run.mean.mean for run in part] for part in self.parts if part]
        freedom = sum(len(part) - 1 for part in logs)
        if freedom < FEWEST_RUNS - 1:
            return run_statistics.spread_between(statistic, (), above)
        squares = sum((value - sum(part) / len(part)) ** 2 for part in logs for value in part)
        return Spread(source="history", sd=sqrt(squares / freedom), runs=freedom + 1)


def trend(seen: Sequence[Seen], statistic: Statistic = "median") -> Trend:
    """The trend of one cell, from its runs (`Index.seen`), oldest first."""
    questions = max(1, sum(_unusable(run, statistic) == "" for run in seen) - 1)
    lines: list[_Line] = []
    points = [_point(run, statistic, lines, questions) for run in seen]
    newest = seen[-1].cell
    first = lines[0] if lines else None
    return Trend(
        cell=newest.cell,
        label=newest.label,
        statistic=statistic,
        points=tuple(points),
        environments=tuple(_against(line, first) for line in lines),
    )


def _point(seen: Seen, statistic: Statistic, lines: list[_Line], questions: int) -> Point:
    line = _line_of(seen, lines)
    facts = _plain(seen, lines.index(line))
    if why := _unusable(seen, statistic):
        return Point(**facts, why=why)
    run = _Usable(seen=seen, mean=_mean(seen, statistic))
    before = line.last
    earlier = [other for other in line.parts[-1] if not _apart(run.seen, other.seen)]
    if before is not None:
        facts["change"] = exp(run.mean.mean - before.mean.mean)
        facts["notes"] = tuple(environments.changes(run.seen, before.seen))
    if not earlier:
        line.parts[-1].append(run)
        return Point(**facts, why=_alone(run, line.parts[-1][:-1], lines.index(line)))
    spread = line.spread(statistic, max(_above(other.seen, statistic) for other in (run, *earlier)))
    moves = _moves(run.seen, [other.seen for other in earlier])
    difference = run_statistics.from_earlier(run.mean, [other.mean for other in earlier], spread, moves)
    interval = difference.interval(intervals.ALPHA / questions)
    margin = min(other.seen.matters for other in (run, *earlier))
    verdict = CHANGES[equivalence.standing(interval, margin)]
    is_change = verdict in ("improved", "regressed")
    if is_change:
        line.parts.append([])
    line.parts[-1].append(run)
    return Point(
        **facts,
        ratio=exp(difference.mean),
        interval=interval,
        verdict=verdict,
        why=f"{quantities.between(interval)}; {_model(spread, statistic)}",
        earlier=len(earlier),
        is_change=is_change,
    )


def _plain(seen: Seen, environment: int) -> dict[str, Any]:
    cell = seen.cell
    names = ("median", "median_interval", "p99", "p99_interval", "throughput", "throughput_interval")
    about = {"run": seen.run, "started": seen.started, "state": seen.state}
    return {**about, "environment": environment, **{name: getattr(cell, name) for name in names}}


def _unusable(seen: Seen, statistic: Statistic) -> str:
    """Why a run is shown and not compared, as a clause; "" where it is."""
    if seen.cell.failed_checks:
        return f"invalid: {', '.join(seen.cell.failed_checks)} failed"
    if seen.state != "complete":
        return f"the run is not complete ({seen.state})"
    if statistic not in seen.cell.evidence.means:
        if seen.cell.errors:
            return (
                f"{quantities.no_reply(seen.cell.errors, seen.cell.requests)}: its {statistic} is not known in every "
                f"trial"
            )
        return f"fewer than {intervals.FEWEST_BLOCKS} trials have a {statistic}"
    waited = seen.cell.evidence.noise.get("pressure", 0.0)
    if waited > environments.OVERLOADED:
        return f"the machine was overloaded: something waited for a CPU for {quantities.percent(waited)} of a trial"
    return ""


def _line_of(seen: Seen, lines: list[_Line]) -> _Line:
    """The line that a run belongs to, which may be new."""
    names = (*environments.MUST_AGREE, *environments.CONFOUND)
    conditions = {name: value for name, value in seen.conditions if name in names}
    for line in lines:
        if line.conditions == conditions:
            return line
    lines.append(_Line(conditions=conditions))
    return lines[-1]


def _against(line: _Line, first: _Line | None) -> tuple[str, ...]:
    """How a line's conditions differ from those of the first one."""
    if first is None or line is first:
        return ()
    names = dict.fromkeys((*first.conditions, *line.conditions))
    return tuple(
        f"{name}: {line.conditions.get(name, 'not known')} against {first.conditions.get(name, 'not known')}"
        for name in names
        if line.conditions.get(name) != first.conditions.get(name)
    )


def _apart(new: Seen, old: Seen) -> list[str]:
    """Why a run is not compared with an earlier one of its line."""
    far = [f"its {move.kind} floor moved" for move in _moves(new, [old]) if move.is_beyond_comparing]
    return [*environments.noise_differences(new.cell.evidence.noise, old.cell.evidence.noise), *far]


def _alone(run: _Usable, others: Sequence[_Usable], environment: int) -> str:
    if others:
        return f"no earlier run is like it: {_apart(run.seen, others[-1].seen)[0]}"
    return "the first one" if environment == 0 else "the first one under these conditions"


def _moves(new: Seen, earlier: Sequence[Seen]) -> list[FloorMove]:
    """How the floors beside the cell moved from the earlier runs, taken together, to the new one."""
    moves = []
    for kind in ("tcp", "ping"):
        mine = new.cell.evidence.floors.get(kind, ())
        theirs = tuple(reading for old in earlier for reading in old.cell.evidence.floors.get(kind, ()))
        move = run_statistics.move_of("tcp" if kind == "tcp" else "ping", mine, theirs)
        if move is not None:
            moves.append(move)
    return moves


def _mean(seen: Seen, statistic: Statistic) -> RunMean:
    n, mean, error = seen.cell.evidence.means[statistic]
    return RunMean(n=n, mean=mean, se=error)


def _above(seen: Seen, statistic: Statistic) -> float:
    return seen.cell.evidence.above_ping.get(statistic, 1.0)


def _model(spread: Spread, statistic: Statistic) -> str:
    if spread.source == "history":
        return f"runs spread by {quantities.difference(exp(spread.sd) - 1)}, by {spread.runs - 1} degrees of freedom"
    return f"the spread between runs is assumed ({quantities.percent(run_statistics.ASSUMED_SD[statistic])})"


def letter(number: int) -> str:
    """What a line of runs that were made under the same conditions is called, by its number from 0."""
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def against_earlier(point: Point) -> str:
    """What became of the cell against the earlier runs, as a clause; or why that is not said."""
    if point.ratio is None or point.interval is None:
        return point.why
    low, high = quantities.bounds(point.interval)
    earlier = f"the {point.earlier} before" if point.earlier > 1 else "the one before"
    return f"{point.verdict}: {quantities.factor(point.ratio)}× ({low} to {high}) of {earlier}"
