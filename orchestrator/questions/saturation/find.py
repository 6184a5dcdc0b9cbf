"""Where more load brings no more replies: series of cells that differ in requests in flight, or in the rate, alone.

The *knee* of a series is the smallest load whose throughput lies within the experiment's margin of the highest: by the mean
over blocks of the log ratio of the two, both measured in the same block. Which load is the highest is an estimate, too. So
the loads at which the knee may lie follow from the ratios to *all* others, as in comparisons with the best (Hsu 1981,
"Simultaneous confidence intervals for all distances from the best", Annals of Statistics 9(5)): a load is shown to lie
within the margin where the intervals of all of its ratios say so (each at 95 %: all must), and to lie outside where
one of them does (Bonferroni's share of 5 % each: one is enough).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from math import log
from typing import Literal

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.read.units import format_rate
from orchestrator.findings import naming
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.limits import Limit, limiting_end, mean_of, responder_cpu
from orchestrator.findings.summary import CellSummary
from orchestrator.findings.validity import failed_in
from orchestrator.questions.base import Question, is_no_search
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import LogMean, Mean
from orchestrator.statistics.terms import Reason, ReasonKind, because


@dataclass(frozen=True, kw_only=True)
class LoadPoint:
    """One cell of a series; means are over trials or blocks.

    `left_out` says why the point takes no part in the knee; None where it does.
    """

    cell: str  # id
    load: float  # requests in flight, or the rate asked for, per second
    load_text: str  # `50 in flight`, `1000/s`
    offered_per_s: float | None  # due per second, as drawn; None in a closed loop
    throughput: Mean | None  # verified replies per second
    of_highest: Mean | None = None  # over that of the load with the highest
    answered: Mean | None  # throughput over what was offered; None in a closed loop
    keeps_up: bool | None  # answered within the margin, nothing unsent, no queue that grows; None in a closed loop
    requester_cpu: float | None
    responder_cpu: float | None
    left_out: Reason | None = None

    @property
    def per_s(self) -> float:
        """Verified replies per second; 0 where some trial has none."""
        return self.throughput.value if self.throughput else 0.0


@dataclass(frozen=True, kw_only=True)
class LoadSeries:
    """Cells of one stack in one setting, by ascending load; `highest` and the others are places in `points`.

    `knee`: the smallest load whose throughput lies within the margin of the highest. `knee_from` and `knee_by`: from which
    load to which it may lie, by the intervals of the ratios of all loads; None with fewer than three blocks.
    `is_reached`: more load was offered than at the knee. `limit`: whose CPU limits there; None where nothing shows a limit.
    `keeps_up_to`: the greatest rate up to which the stack keeps up at all rates; None in a closed loop, or at none.
    """

    factor: Literal["concurrency", "rate"]
    stack: str
    stack_label: str
    setting: str
    margin: float
    points: tuple[LoadPoint, ...]
    highest: int | None = None
    knee: int | None = None
    knee_from: int | None = None
    knee_by: int | None = None
    is_reached: bool = False
    limit: Limit | None = None
    keeps_up_to: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests come at a rate."""
        return self.factor == "rate"


FEWEST_POINTS = 3
_LOADS = ("concurrency", "rate")


def find_series(
    cells: Sequence[CellSummary], checks: Sequence[CheckResult], *, matters: float
) -> tuple[LoadSeries, ...]:
    """Every series of three or more loads, in the order of its first cells; streams and codecs alone have none."""
    alike: dict[tuple[object, ...], list[CellSummary]] = {}
    for cell in cells:
        if cell.kind in ("call", "task"):
            rest = tuple(item for item in cell.factors.items() if item[0] not in _LOADS)
            is_open = cell.factors["rate"] is not None
            alike.setdefault((is_open, cell.stack, cell.operation, cell.placement, *rest), []).append(cell)
    groups: list[tuple[str, list[CellSummary]]] = []
    for (has_rate, *_), members in alike.items():
        if not has_rate or len({cell.factors["rate"] for cell in members}) == len(members):
            groups.append(("rate" if has_rate else "concurrency", members))
            continue
        bounds = dict.fromkeys(cell.factors["concurrency"] for cell in members)  # which was varied, too
        groups += [("rate", [c for c in members if c.factors["concurrency"] == bound]) for bound in bounds]
    places = {cell.id: place for place, cell in enumerate(cells)}
    groups.sort(key=lambda group: places[group[1][0].id])
    return tuple(
        _series(factor, members, checks, matters) for factor, members in groups if len(members) >= FEWEST_POINTS
    )


def _series(factor: str, cells: Sequence[CellSummary], checks: Sequence[CheckResult], margin: float) -> LoadSeries:
    is_open = factor == "rate"
    cells = sorted(cells, key=lambda cell: _load(cell, factor))
    points = [_point(cell, factor, checks, margin) for cell in cells]
    sound = [place for place, point in enumerate(points) if not point.left_out]
    series = LoadSeries(
        factor="rate" if is_open else "concurrency",
        stack=cells[0].stack,
        stack_label=cells[0].labels.stack,
        setting=naming.without(factor, cells[0]),
        margin=margin,
        points=tuple(points),
    )
    by_block = [{trial.block: trial.throughput_per_s for trial in cell.trials} for cell in cells]
    series = _with_knee(series, by_block, sound)
    if is_open:
        kept = [*takewhile(lambda place: points[place].keeps_up, sound)]
        series = replace(series, keeps_up_to=kept[-1] if kept else None)
    return series


def _load(cell: CellSummary, factor: str) -> float:
    value = cell.factors[factor]
    return float(value) if isinstance(value, (int, float)) else 0.0


# ---- a point


def _point(cell: CellSummary, factor: str, checks: Sequence[CheckResult], margin: float) -> LoadPoint:
    rates = [trial.throughput_per_s for trial in cell.trials]
    throughput = intervals.of_trials(rates) if rates and min(rates) > 0 else None
    load = _load(cell, factor)
    offered = answered = keeps_up = None
    if factor == "rate" and rates:
        due = [trial.offered_per_s or load for trial in cell.trials]
        offered = intervals.of_trials(due).ratio
        answered = intervals.paired(rates, due) if throughput else None
        is_answered = answered is not None and answered.mean >= -log(1 + margin)
        overloads = [check for check in checks if check.cell == cell.id and is_beyond_capacity(check)]
        keeps_up = is_answered and not cell.counts.not_sent and not overloads
    return LoadPoint(
        cell=cell.id,
        load=load,
        load_text=format_rate(load) if factor == "rate" else BY_NAME[factor].text(cell.factors[factor]),
        offered_per_s=offered,
        throughput=throughput.as_mean if throughput else None,
        answered=answered.as_mean if answered else None,
        keeps_up=keeps_up,
        requester_cpu=mean_of(trial.cpu_share for trial in cell.trials),
        responder_cpu=mean_of(responder_cpu(trial) for trial in cell.trials),
        left_out=_why_left_out(cell, checks),
    )


def _why_left_out(cell: CellSummary, checks: Sequence[CheckResult]) -> Reason | None:
    """A rate that could not be offered in full is a result; whatever else makes a cell invalid leaves it out."""
    failed = failed_in(cell.id, [check for check in checks if not is_beyond_capacity(check)])
    if failed:
        return because(ReasonKind.INVALID, *failed)
    if cell.counts.failed_trials:
        return because(ReasonKind.FAILED_TRIALS, trials=cell.counts.failed_trials)
    if not cell.trials:
        return because(ReasonKind.NOT_MEASURED)
    is_silent = any(not trial.throughput_per_s for trial in cell.trials)
    return because(ReasonKind.NO_REPLY) if is_silent else None


def is_beyond_capacity(check: CheckResult) -> bool:
    """Whether it failed for nothing but a rate above what can be answered."""
    return check.verdict == "fail" and check.overload is not None


# ---- the knee


def _with_knee(series: LoadSeries, by_block: Sequence[Mapping[int, float]], sound: Sequence[int]) -> LoadSeries:
    """The series with the highest throughput and its knee, over the blocks in which every sound point was measured."""
    blocks = sorted(set.intersection(*(set(by_block[place]) for place in sound))) if sound else []
    if len(sound) < FEWEST_POINTS or not blocks:
        return series
    values = {place: [by_block[place][block] for block in blocks] for place in sound}
    highest = max(sound, key=lambda place: intervals.of_trials(values[place]).mean)
    ratios = _ratios(values)
    least = 1 / (1 + series.margin)
    knee = next(place for place in sound if place == highest or ratios[place, highest].ratio >= least)
    of_highest = {place: ratios[place, highest].as_mean for place in sound if place != highest}
    of_highest[highest] = Mean(value=1.0, interval=None)
    points = tuple(replace(point, of_highest=of_highest.get(place)) for place, point in enumerate(series.points))
    is_reached = knee != sound[-1]
    first, last = _ends(ratios, sound, least) if len(blocks) >= intervals.FEWEST_BLOCKS else (None, None)
    return replace(
        series,
        points=points,
        highest=highest,
        knee=knee,
        knee_from=first,
        knee_by=last,
        is_reached=is_reached,
        limit=limiting_end(points[knee].responder_cpu, points[knee].requester_cpu)
        if is_reached or points[knee].keeps_up is False
        else None,
    )


def _ratios(values: Mapping[int, Sequence[float]]) -> dict[tuple[int, int], LogMean]:
    """Every load's throughput over every other's, block by block, moderated by each other."""
    pairs = [*combinations(values, 2)]
    ratios: dict[tuple[int, int], LogMean] = {}
    shared = intervals.moderated([intervals.paired(values[first], values[other]) for first, other in pairs])
    for (first, other), ratio in zip(pairs, shared, strict=True):
        if ratio is not None:
            ratios[first, other], ratios[other, first] = ratio, replace(ratio, mean=-ratio.mean)
    return ratios


def _ends(ratios: Mapping[tuple[int, int], LogMean], sound: Sequence[int], least: float) -> tuple[int, int]:
    """From which load to which the knee may lie; the last one where no load is shown to lie within the margin."""
    several = intervals.ALPHA / (len(sound) - 1)

    def reaches(place: int, bound: int, alpha: float) -> bool:
        """Whether the lower (0) or upper (1) bounds of the ratios to all others lie within the margin."""
        bounds = (ratios[place, other].interval(alpha) for other in sound if other != place)
        return all(interval is not None and interval[bound] >= least for interval in bounds)

    first = next(place for place in sound if reaches(place, 1, several))
    return first, next((place for place in sound if reaches(place, 0, intervals.ALPHA)), sound[-1])


QUESTION: Question[tuple[LoadSeries, ...]] = Question(
    name="saturation",
    type=tuple[LoadSeries, ...],
    empty=(),
    find=lambda basis: find_series(basis.summary.cells, basis.summary.checks, matters=basis.plan.matters),
    applies=is_no_search,
)
