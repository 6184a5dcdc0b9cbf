"""A series of loads as the rows of a table, for terminal and report alike."""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.load_series import LoadPoint, LoadSeries
from orchestrator.analysis.terms import Interval

DASH = (
    "-: not known. A share of the highest or of what was offered has its 95 % interval behind it, and CPU is of one core,"
    " on average over trials. Where a bare socket was measured at the same load, the client's share"
    " is how much of the median lies above that one's."
)


def heads(series: LoadSeries) -> tuple[str, ...]:
    """What stands above the columns; the last one, of remarks, has no head."""
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
        "",
    )


def rows(series: LoadSeries) -> list[tuple[str, ...]]:
    """A row for each load, by ascending load."""
    return [_row(series, place, point) for place, point in enumerate(series.points)]


def _row(series: LoadSeries, place: int, point: LoadPoint) -> tuple[str, ...]:
    unit = _unit(series)
    offered = (_rate(point.offered_per_s), _share(point.answered, point.answered_interval), f"{point.not_sent:,}")
    errors = (words.count(point.errors, "error"),) if point.errors else ()
    return (
        point.load_text.removesuffix(" in flight"),
        *(offered if series.is_open else ()),
        _rate(point.throughput_per_s),
        "-" if point.interval is None else " to ".join(words.rate(bound) for bound in point.interval),
        _share(point.of_highest, point.of_highest_interval),
        *("-" if value is None else unit.text(value) for value in (point.median, point.p99)),
        *((_of_client(point.client_share),) if series.has_client_shares else ()),
        *("-" if value is None else words.percent(value) for value in (point.requester_cpu, point.responder_cpu)),
        ", ".join((*series.remarks(place), *errors)),
    )


def _of_client(share: float | None) -> str:
    """Nothing where the bare socket was no quicker."""
    return "-" if share is None else words.percent(max(share, 0.0))


def _unit(series: LoadSeries) -> words.Unit:
    return words.unit_for(point.median for point in series.points if point.median is not None)


def _rate(value: float | None) -> str:
    return "-" if value is None else words.rate(value)


def _share(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    if interval is None:
        return words.percent(value)
    low, high = (words.percent(bound) for bound in interval)
    return f"{words.percent(value)} ({low.removesuffix(' %')} to {high})"
