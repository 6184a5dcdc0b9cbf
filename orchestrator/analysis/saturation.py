"""Where more load brings no more replies: series of cells that differ in requests in flight, or in the rate, alone.

The *knee* of a series is the smallest load whose throughput lies within the experiment's margin of the highest: by the mean
over blocks of the log ratio of the two, both measured in the same block. Which load is the highest is an estimate, too. So
the loads at which the knee may lie are told by the ratios to *all* others, as in comparisons with the best (Hsu 1981,
"Simultaneous confidence intervals for all distances from the best", Annals of Statistics 9(5)): a load is shown to lie
within the margin where the intervals of all of its ratios say so (each at 95 %: all must), and to lie outside where
one of them does (Bonferroni's share of 5 % each: one is enough).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from math import log
from statistics import mean

from orchestrator.analysis import busy, intervals, naming, words
from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.evidence import SHORT_WINDOW_S
from orchestrator.analysis.intervals import LogMean
from orchestrator.analysis.load_series import Limit, LoadPoint, LoadSeries
from orchestrator.analysis.summary import CellSummary, TrialSummary
from orchestrator.analysis.validity import failed_in
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.read.units import format_rate
from services.python.contract.limits import SATURATED

FEWEST_POINTS = 3
_LOADS = ("concurrency", "rate")

Key = tuple[tuple[str, Value], ...]


def find_series(
    cells: Sequence[CellSummary], checks: Sequence[CheckResult], *, matters: float
) -> tuple[LoadSeries, ...]:
    """Every series of three or more loads, in the order of its first cells; streams and codecs alone have none."""
    closed: dict[Key, list[CellSummary]] = {}
    opened: dict[Key, list[CellSummary]] = {}
    for cell in cells:
        if cell.kind in ("call", "task"):
            (closed if cell.factors["rate"] is None else opened).setdefault(_key(cell), []).append(cell)
    found = [("concurrency", members) for members in closed.values()]
    found += [("rate", members) for alike in opened.values() for members in _by_bound(alike)]
    places = {cell.id: place for place, cell in enumerate(cells)}
    found.sort(key=lambda one: places[one[1][0].id])
    return tuple(
        _series(factor, members, checks, matters) for factor, members in found if len(members) >= FEWEST_POINTS
    )


def _key(cell: CellSummary) -> Key:
    rest = tuple((name, value) for name, value in cell.factors.items() if name not in _LOADS)
    return (("stack", cell.stack), ("operation", cell.operation_id), ("placement", cell.placement_id), *rest)


def _by_bound(cells: Sequence[CellSummary]) -> list[list[CellSummary]]:
    """One series where the bound on requests in flight follows the rate; one for each bound where it was varied, too."""
    if len({cell.factors["rate"] for cell in cells}) == len(cells):
        return [list(cells)]
    bounds: dict[Value, list[CellSummary]] = {}
    for cell in cells:
        bounds.setdefault(cell.factors["concurrency"], []).append(cell)
    return [*bounds.values()]


def _series(factor: str, cells: Sequence[CellSummary], checks: Sequence[CheckResult], margin: float) -> LoadSeries:
    is_open = factor == "rate"
    cells = sorted(cells, key=lambda cell: _load(cell, factor))
    points = [_point(cell, factor, checks, margin) for cell in cells]
    sound = [place for place, point in enumerate(points) if not point.left_out]
    series = LoadSeries(
        factor="rate" if is_open else "concurrency",
        stack=cells[0].stack,
        stack_label=cells[0].stack_label,
        setting=naming.without(factor, cells[0]),
        margin=margin,
        points=tuple(points),
    )
    series = _with_knee(series, [_by_block(cell) for cell in cells], sound)
    if is_open:
        kept = [*takewhile(lambda place: points[place].keeps_up, sound)]
        series = replace(series, keeps_up_to=kept[-1] if kept else None)
    return replace(series, sentences=(*_sentences(series),))


def _load(cell: CellSummary, factor: str) -> float:
    value = cell.factors[factor]
    return float(value) if isinstance(value, (int, float)) else 0.0


def _by_block(cell: CellSummary) -> dict[int, float]:
    return {trial.block: trial.throughput_per_s for trial in cell.trials}


# ---- a point


def _point(cell: CellSummary, factor: str, checks: Sequence[CheckResult], margin: float) -> LoadPoint:
    rates = [trial.throughput_per_s for trial in cell.trials]
    of = intervals.of_trials(rates) if rates and min(rates) > 0 else None
    load = _load(cell, factor)
    offered = answered = None
    if factor == "rate":
        due = [trial.offered_per_s or load for trial in cell.trials]
        offered = intervals.of_trials(due).ratio if due else None
        answered = intervals.paired(rates, due) if of else None
    keeps_up = None
    if factor == "rate" and rates:
        is_answered = answered is not None and answered.mean >= -log(1 + margin)
        overloads = [check for check in checks if check.cell == cell.id and is_beyond_capacity(check)]
        keeps_up = is_answered and not cell.not_sent and not overloads
    middle = cell.distribution
    return LoadPoint(
        cell=cell.id,
        load=load,
        load_text=format_rate(load) if factor == "rate" else BY_NAME[factor].text(cell.factors[factor]),
        offered_per_s=offered,
        throughput_per_s=of.ratio if of else None,
        interval=of.interval() if of else None,
        of_highest=None,
        of_highest_interval=None,
        answered=answered.ratio if answered else None,
        answered_interval=answered.interval() if answered else None,
        keeps_up=keeps_up,
        median=middle.median if middle else None,
        p99=middle.p99 if middle else None,
        requester_cpu=mean_of(trial.cpu_share for trial in cell.trials),
        responder_cpu=mean_of(responder_cpu(trial) for trial in cell.trials),
        not_sent=cell.not_sent,
        errors=cell.failed,
        is_busy=bool(busy.disturbances(checks, (cell.id,))),
        left_out=_why_left_out(cell, checks),
        client_share=cell.client_share,
    )


def mean_of(shares: Iterable[float | None]) -> float | None:
    """Over trials; None unless every trial knows."""
    found = [*shares]
    known = [share for share in found if share is not None]
    return mean(known) if known and len(known) == len(found) else None


def responder_cpu(trial: TrialSummary) -> float | None:
    """How busy the responder's core was.

    Unknown of a short window, in which starting and ending the trial may have used it (`responder's core`).
    """
    window_s = trial.responder_window_s
    return None if window_s is not None and window_s < SHORT_WINDOW_S else trial.responder_cpu_share


def _why_left_out(cell: CellSummary, checks: Sequence[CheckResult]) -> str:
    """A rate that could not be offered in full is a result; whatever else makes a cell invalid leaves it out."""
    failed = failed_in(cell.id, [check for check in checks if not is_beyond_capacity(check)])
    if failed:
        return f"{', '.join(failed)} failed"
    if cell.failed_trials:
        return f"{words.count(cell.failed_trials, 'trial')} failed"
    if not cell.trials:
        return "no trial"
    return "a trial without a right reply" if any(not trial.throughput_per_s for trial in cell.trials) else ""


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
    of_highest = {place: ratios[place, highest] for place in sound if place != highest}
    points = tuple(
        replace(
            point,
            of_highest=of_highest[place].ratio if place in of_highest else 1.0 if place == highest else None,
            of_highest_interval=of_highest[place].interval() if place in of_highest else None,
        )
        for place, point in enumerate(series.points)
    )
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
        limit=limit_of(points[knee].responder_cpu, points[knee].requester_cpu)
        if is_reached or points[knee].keeps_up is False
        else None,
    )


def _ratios(values: Mapping[int, Sequence[float]]) -> dict[tuple[int, int], LogMean]:
    """Every load's throughput over every other's, block by block, with a shared least error."""
    pairs = [*combinations(values, 2)]
    found: dict[tuple[int, int], LogMean] = {}
    shared = intervals.with_shared_error([intervals.paired(values[one], values[other]) for one, other in pairs])
    for (one, other), of in zip(pairs, shared, strict=True):
        if of is not None:
            found[one, other], found[other, one] = of, replace(of, mean=-of.mean)
    return found


def _ends(ratios: Mapping[tuple[int, int], LogMean], sound: Sequence[int], least: float) -> tuple[int, int]:
    """From which load to which the knee may lie; the last one where no load is shown to lie within the margin."""
    several = intervals.ALPHA / (len(sound) - 1)

    def reaches(place: int, bound: int, alpha: float) -> bool:
        """Whether the lower (0) or upper (1) bounds of the ratios to all others lie within the margin."""
        of = (ratios[place, other].interval(alpha) for other in sound if other != place)
        return all(interval is not None and interval[bound] >= least for interval in of)

    first = next(place for place in sound if reaches(place, 1, several))
    return first, next((place for place in sound if reaches(place, 0, intervals.ALPHA)), sound[-1])


def limit_of(responder_cpu: float | None, requester_cpu: float | None) -> Limit:
    """Whose process is busy for so much of its core that it limits; unknown where nobody knows of one, and not the other."""
    busy = {
        end: None if share is None else share >= SATURATED
        for end, share in (("responder", responder_cpu), ("requester", requester_cpu))
    }
    if busy["responder"] and busy["requester"]:
        return "both"
    if busy["responder"]:
        return "responder"
    if busy["requester"]:
        return "requester"
    return "unknown" if None in busy.values() else "neither"


# ---- in words


def _sentences(series: LoadSeries) -> Iterator[str]:
    label, points = series.stack_label, series.points
    if series.is_open:
        yield _keeps_up(series)
    if series.highest is None or series.knee is None:
        yield f"{label}: no knee can be told: fewer than three loads are left that the same blocks measured."
    else:
        best = points[series.highest]
        interval = f" (95 % interval {_rates(best.interval)})" if best.interval else ""
        yield f"{label} gives at most {words.rate(best.throughput_per_s or 0.0)} replies/s, at {best.load_text}{interval}."
        yield _knee(series, points[series.knee])
    for point in points:
        if point.left_out:
            yield f"Left out at {point.load_text}: {point.left_out}."


def _knee(series: LoadSeries, knee: LoadPoint) -> str:
    margin = words.margin(series.margin)
    if not series.is_reached and knee.keeps_up is False:
        sound = [point.load_text for point in series.points if not point.left_out]
        return (
            f"Its knee is not reached at a rate it keeps up with: it lies between {sound[-2]} and {sound[-1]}; "
            f"at the latter {_limit_in_words(series.limit, knee)}."
        )
    if not series.is_reached:
        return (
            f"Its knee is not reached up to {knee.load_text}: every smaller load gives less than that by more than {margin}"
            f"{_earliest(series)}."
        )
    share = f"{words.percent(knee.of_highest or 1.0)} of the highest"
    if knee.of_highest_interval:
        low, high = knee.of_highest_interval
        share += f" (95 % interval {words.percent(low)} to {words.percent(high)})"
    text = f"Its knee is at {knee.load_text}, the smallest load within {margin} of the highest"
    text += ": it is the highest" if series.knee == series.highest else f": {share}"
    text += f"; there {_limit_in_words(series.limit, knee)}."
    if series.knee == 0 and knee.load > 1:
        text += " It is the smallest load measured: the knee may lie lower."
    if series.knee_from is None or series.knee_by is None:
        return f"{text} Fewer than three blocks: no interval."
    if series.knee_from != series.knee_by:
        ends = (series.points[place].load_text for place in (series.knee_from, series.knee_by))
        last = max(place for place, point in enumerate(series.points) if not point.left_out)
        text += f" By the intervals it lies from {' to '.join(ends)}"
        text += ", or is not reached." if series.knee_by == last else "."
    return text


def _earliest(series: LoadSeries) -> str:
    """Where the intervals leave it open that the knee comes sooner."""
    if series.knee_from is None:
        return " (fewer than three blocks: no interval)"
    if series.knee_from == series.knee:
        return ""
    return f" on average, but by the intervals it may lie at {series.points[series.knee_from].load_text} already"


def _limit_in_words(limit: Limit | None, point: LoadPoint) -> str:
    return limit_in_words(limit, point.responder_cpu, point.requester_cpu, is_busy=point.is_busy)


def limit_in_words(
    limit: Limit | None, responder_cpu: float | None, requester_cpu: float | None, *, is_busy: bool
) -> str:
    """Which end limits, as a clause; `is_busy`: the machine was, so that a process may only look idle."""
    shares = [
        f"{end} {'unknown' if share is None else words.percent(share)}"
        for end, share in (("responder", responder_cpu), ("requester", requester_cpu))
    ]
    busy = f"{', '.join(shares)} of a core"
    if limit == "both":
        return f"the CPU of both ends limits it ({busy})"
    if limit in ("responder", "requester"):
        return f"the {limit}'s CPU limits it ({busy})"
    but = ", but the machine was busy, and a process that gets no CPU time looks idle" if is_busy else ""
    if limit == "neither":
        return f"neither end's CPU limits it ({busy}){but}"
    return f"whether a CPU limits it is not known ({busy}){but}"


def _keeps_up(series: LoadSeries) -> str:
    points = [point for point in series.points if not point.left_out]
    beyond = [point.load_text for point in points if point.keeps_up is False]
    if not points:
        return f"{series.stack_label}: up to which rate it keeps up cannot be told."
    if series.keeps_up_to is None:
        said = f"{series.stack_label} does not keep up even with {points[0].load_text}"
    else:
        upto = series.points[series.keeps_up_to].load_text
        said = f"{series.stack_label} keeps up to {upto}{'' if beyond else ', the greatest rate measured'}"
    return f"{said}; beyond capacity: {words.listed(beyond)}." if beyond else f"{said}."


def _rates(bounds: tuple[float, float] | None) -> str:
    return " to ".join(words.rate(bound) for bound in bounds or ())
