"""A series of loads as the rows of a table, for terminal and report alike."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.saturation.find import QUESTION, Bounds, Limit, LoadPoint, LoadSeries
from orchestrator.wording.tables.table import Table, text_table

DASH = (
    "-: not known. A share of the highest or of what was offered has its 95 % interval behind it, and CPU is of one core,"
    " on average over trials. Where a bare socket was measured at the same load, the client's share"
    " is how much of the median lies above that one's."
)


def heads(series: LoadSeries) -> tuple[str, ...]:
    """What stands above the columns."""
    unit = _unit(series).name
    offered = ("offered/s", "answered", "not sent") if series.is_open else ()
    return (
        "rate" if series.is_open else "in flight",
        *offered,
        "replies/s",
        "95 % interval",
        "of the highest",
        f"median, {unit}",
        f"p99, {unit}",
        *(("client's share",) if series.has_client_shares else ()),
        "requester CPU",
        "responder CPU",
        "remarks",
    )


def rows(series: LoadSeries) -> list[tuple[str, ...]]:
    """A row for each load, by ascending load."""
    return [_row(series, place, point) for place, point in enumerate(series.points)]


def _row(series: LoadSeries, place: int, point: LoadPoint) -> tuple[str, ...]:
    unit = _unit(series)
    offered = (_rate(point.offered_per_s), _share(point.answered, point.answered_interval), f"{point.not_sent:,}")
    errors = (quantities.count(point.errors, "error"),) if point.errors else ()
    return (
        point.load_text.removesuffix(" in flight"),
        *(offered if series.is_open else ()),
        _rate(point.throughput_per_s),
        "-" if point.interval is None else " to ".join(quantities.rate(bound) for bound in point.interval),
        _share(point.of_highest, point.of_highest_interval),
        *("-" if value is None else unit.text(value) for value in (point.median, point.p99)),
        *((_of_client(point.client_share),) if series.has_client_shares else ()),
        *("-" if value is None else quantities.percent(value) for value in (point.requester_cpu, point.responder_cpu)),
        ", ".join((*remarks(series, place), *errors)),
    )


def remarks(series: LoadSeries, place: int) -> tuple[str, ...]:
    """Return what a point is, in words: `knee`, `beyond capacity`."""
    point = series.points[place]
    if point.left_out:
        return (f"left out: {point.left_out}",)
    is_so = {
        "highest": place == series.highest,
        "knee": place == series.knee and series.is_reached,
        "beyond capacity": point.keeps_up is False,
    }
    return tuple(name for name, holds in is_so.items() if holds)


def _of_client(share: float | None) -> str:
    """Nothing where the bare socket was no quicker."""
    return "-" if share is None else quantities.percent(max(share, 0.0))


def _unit(series: LoadSeries) -> quantities.Unit:
    return quantities.unit_for(point.median for point in series.points if point.median is not None)


def _rate(value: float | None) -> str:
    return "-" if value is None else quantities.rate(value)


def _share(value: float | None, interval: Bounds | None) -> str:
    if value is None:
        return "-"
    if interval is None:
        return quantities.percent(value)
    low, high = (quantities.percent(bound) for bound in interval)
    return f"{quantities.percent(value)} ({low.removesuffix(' %')} to {high})"


# ---- sentences


def sentences(series: LoadSeries) -> Iterator[str]:
    """Yield up to which rate a stack keeps up, its highest throughput, its knee, and what was left out."""
    label, points = series.stack_label, series.points
    if series.is_open:
        yield _keeps_up(series)
    if series.highest is None or series.knee is None:
        yield f"{label}: no knee: fewer than three loads are left that the same blocks measured."
    else:
        best = points[series.highest]
        interval = (
            f" (95 % interval {' to '.join(quantities.rate(bound) for bound in best.interval)})"
            if best.interval
            else ""
        )
        yield (
            f"{label} gives at most {quantities.rate(best.throughput_per_s or 0.0)} replies/s, at "
            f"{best.load_text}{interval}."
        )
        yield _knee(series, points[series.knee])
    for point in points:
        if point.left_out:
            yield f"Left out at {point.load_text}: {point.left_out}."


def _knee(series: LoadSeries, knee: LoadPoint) -> str:
    margin = quantities.margin(series.margin)
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
    share = f"{quantities.percent(knee.of_highest or 1.0)} of the highest"
    if knee.of_highest_interval:
        low, high = knee.of_highest_interval
        share += f" (95 % interval {quantities.percent(low)} to {quantities.percent(high)})"
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
        f"{end} {'unknown' if share is None else quantities.percent(share)}"
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
        return f"{series.stack_label}: no sound load, so its capacity is unknown."
    if series.keeps_up_to is None:
        said = f"{series.stack_label} does not keep up even with {points[0].load_text}"
    else:
        upto = series.points[series.keeps_up_to].load_text
        said = f"{series.stack_label} keeps up to {upto}{'' if beyond else ', the greatest rate measured'}"
    return f"{said}; beyond capacity: {quantities.listed(beyond)}." if beyond else f"{said}."


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each stack and setting, with its sentences below."""
    return tuple(
        text_table(
            f"saturation · {series.setting} · {series.stack_label}",
            heads(series),
            rows(series),
            (*sentences(series), DASH),
            texts=1,
        )
        for series in QUESTION.of(summary)
    )
