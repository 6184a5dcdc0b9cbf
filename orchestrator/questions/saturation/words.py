"""A series of loads as the rows of a table, for terminal and report alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.capacity.find import RateLimit
from orchestrator.questions.saturation.find import QUESTION, Limit, LoadPoint, LoadSeries
from orchestrator.statistics.intervals import Mean
from orchestrator.wording.reasons import clause
from orchestrator.wording.tables.table import Table, text_table

DASH = (
    "-: not known. A share of the highest or of what was offered has its 95 % interval behind it, and CPU is of one core,"
    " on average over trials."
)


def _heads(series: LoadSeries, unit: quantities.Unit) -> tuple[str, ...]:
    offered = ("offered/s", "answered", "not sent") if series.is_open else ()
    return (
        "rate" if series.is_open else "in flight",
        *offered,
        "replies/s",
        "95 % interval",
        "of the highest",
        f"median, {unit.name}",
        f"p99, {unit.name}",
        "requester CPU",
        "responder CPU",
        "remarks",
    )


def _row(series: LoadSeries, place: int, cell: CellSummary, unit: quantities.Unit) -> tuple[str, ...]:
    point, latency = series.points[place], cell.distribution
    rates = [point.offered_per_s, point.throughput.value if point.throughput else None]
    offered_per_s, per_s = ("-" if rate is None else quantities.rate(rate) for rate in rates)
    offered = (offered_per_s, _share(point.answered), f"{cell.counts.not_sent:,}")
    latencies = (latency.median, latency.p99) if latency else (None, None)
    errors = (quantities.count(cell.counts.failed, "error"),) if cell.counts.failed else ()
    return (
        point.load_text if series.is_open else f"{point.load:.0f}",
        *(offered if series.is_open else ()),
        per_s,
        _bounds(point) or "-",
        _share(point.of_highest),
        *("-" if value is None else unit.text(value) for value in latencies),
        *("-" if value is None else quantities.percent(value) for value in (point.requester_cpu, point.responder_cpu)),
        ", ".join((*remarks(series, place), *errors)),
    )


def remarks(series: LoadSeries, place: int) -> tuple[str, ...]:
    """Return what a point is, in words: `knee`, `beyond capacity`."""
    point = series.points[place]
    if point.left_out:
        return (f"left out: {clause(point.left_out)}",)
    is_so = {
        "highest": place == series.highest,
        "knee": place == series.knee and series.is_reached,
        "beyond capacity": point.keeps_up is False,
    }
    return tuple(name for name, holds in is_so.items() if holds)


def _bounds(point: LoadPoint) -> str:
    return " to ".join(map(quantities.rate, point.throughput.interval or ())) if point.throughput else ""


def _share(mean: Mean | None) -> str:
    if mean is None or mean.interval is None:
        return "-" if mean is None else quantities.percent(mean.value)
    low, high = mean.interval
    return f"{quantities.percent(mean.value)} ({quantities.percent(low, unit='')} to {quantities.percent(high)})"


# ---- sentences

LIMITS: Mapping[RateLimit | None, str] = {
    "responder": "the responder's CPU limits it",
    "requester": "the requester's CPU limits it",
    "both": "the CPUs of both ends limit it",
    "neither": "neither end's CPU limits it",
    "unknown": "its limit is not known",
    "in flight": "how many requests may be in flight (`concurrency`) limits it",
    "late sends": "a requester that sends late limits it",
}
_MOST = 3  # series in one line


def headline(every: Sequence[LoadSeries]) -> str:
    """Return the plateau of each series that reached one, and its limit; empty without one."""
    several = len({series.setting for series in every}) > 1
    clauses = [
        f"{series.stack_label}{f', {series.setting}' if several else ''}: plateau"
        f" {quantities.rate(series.points[series.highest].per_s)}/s from"
        f" {series.points[series.knee].load_text}; {LIMITS[series.limit]}"
        for series in every
        if series.highest is not None and series.knee is not None and series.is_reached
    ]
    more = f". {len(clauses) - _MOST} more" if len(clauses) > _MOST else ""
    return f"{'. '.join(clauses[:_MOST])}{more}." if clauses else ""


def sentences(series: LoadSeries) -> Iterator[str]:
    """Yield up to which rate a stack keeps up, its highest throughput, its knee, and what was left out."""
    label, points = series.stack_label, series.points
    if series.is_open:
        yield _keeps_up(series)
    if series.highest is None or series.knee is None:
        yield f"{label}: no knee: fewer than three loads are left that the same blocks measured."
    else:
        best = points[series.highest]
        rate, bounds = quantities.rate(best.per_s), _bounds(best)
        yield f"{label} gives at most {rate} replies/s, at {best.load_text}{bounds and f' (95 % interval {bounds})'}."
        yield _knee(series, points[series.knee])
    yield from (f"Left out at {point.load_text}: {clause(point.left_out)}." for point in points if point.left_out)


def _knee(series: LoadSeries, knee: LoadPoint) -> str:
    if not series.is_reached:
        return f"Its knee is not reached up to {knee.load_text}."
    between = "no interval: fewer than three blocks"
    if series.knee_from is not None and series.knee_by is not None:
        ends = dict.fromkeys(series.points[place].load_text for place in (series.knee_from, series.knee_by))
        between = f"95 % interval {' to '.join(ends)}"
    limit = _limit_in_words(series.limit, knee.responder_cpu, knee.requester_cpu)
    margin = quantities.margin(series.margin)
    return f"Its knee, the smallest load within {margin} of the highest, is {knee.load_text} ({between}); {limit}."


def _limit_in_words(limit: Limit | None, responder_cpu: float | None, requester_cpu: float | None) -> str:
    shares = [
        f"{end} {'unknown' if share is None else quantities.percent(share)}"
        for end, share in (("responder", responder_cpu), ("requester", requester_cpu))
    ]
    return f"{LIMITS[limit]} ({', '.join(shares)} of a core)"


def _keeps_up(series: LoadSeries) -> str:
    points = [point for point in series.points if not point.left_out]
    beyond = [point.load_text for point in points if point.keeps_up is False]
    if not points:
        return f"{series.stack_label}: no sound load, so its capacity is unknown."
    if series.keeps_up_to is None:
        lead = f"{series.stack_label} does not keep up even with {points[0].load_text}"
    else:
        lead = f"{series.stack_label} keeps up to {series.points[series.keeps_up_to].load_text}"
    return (
        f"{lead}; beyond capacity: {quantities.listed(beyond)}." if beyond else f"{lead}, the greatest rate measured."
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each stack and setting, with its sentences below."""
    cells = {cell.id: cell for cell in summary.cells}
    shown = []
    for series in QUESTION.of(summary):
        members = [cells[point.cell] for point in series.points]
        unit = quantities.unit_for(cell.distribution.median for cell in members if cell.distribution)
        rows = [_row(series, place, cell, unit) for place, cell in enumerate(members)]
        title = f"saturation · {series.setting} · {series.stack_label}"
        shown.append(text_table(title, _heads(series, unit), rows, (*sentences(series), DASH), texts=1))
    return tuple(shown)
