"""The operations of a mix, as text for a table: the same in terminal and report."""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.summary import MixedSummary, RunSummary
from orchestrator.analysis.table import Table, text_table

HEADS = (
    "share (drawn)",
    "median, {unit}",
    "95 % interval, {unit}",
    "p99, {unit}",
    "req/s",
    "errors",
    "body sent, bytes",
    "received, bytes",
)

NOTE = (
    "Each operation of a mix by itself: percentiles as a cell's own; req/s is its right replies over the windows of the"
    " whole mix. Drawn: its share of the requests that were due."
)


def heads(unit: words.Unit) -> tuple[str, ...]:
    """`HEADS` with a table's unit."""
    return tuple(head.format(unit=unit.name) for head in HEADS)


def figures(of: MixedSummary, unit: words.Unit) -> tuple[str, ...]:
    """A row, below `HEADS`."""
    drawn = "-" if of.drawn is None else words.percent(of.drawn)
    errors = f"{of.failed:,}" + (f", {of.not_sent:,} not sent" if of.not_sent else "")
    sent, received = ("-", "-") if of.body_bytes is None else (words.number(size, 1) for size in of.body_bytes)
    return (
        f"{words.percent(of.share)} ({drawn})",
        _value(of, "median", unit),
        _interval(of, unit),
        _value(of, "p99", unit),
        "-" if of.throughput_per_s is None else words.rate(of.throughput_per_s),
        errors,
        sent,
        received,
    )


def _value(of: MixedSummary, name: str, unit: words.Unit) -> str:
    found = of.distribution
    if found is None:
        return "-"
    if name in found.censored:
        return "no reply" if found.limit is None else f"> {words.ms(found.limit)}"
    value = getattr(found, name)
    return "-" if value is None else unit.text(value)


def _interval(of: MixedSummary, unit: words.Unit) -> str:
    if of.median_interval is None:
        return "-"
    return "*" if words.is_vague(of.median_interval) else " to ".join(unit.text(bound) for bound in of.median_interval)


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the operations of a mix, a table for each cell."""
    found = []
    for cell in summary.cells:
        unit = words.unit_for(m.distribution.median for m in cell.mixed if m.distribution and m.distribution.median)
        rows = [(mixed.label, *figures(mixed, unit)) for mixed in cell.mixed]
        title = f"operations of the mix · {cell.stack_label} · {cell.setting}"
        found += [text_table(title, ("operation", *heads(unit)), rows, (NOTE,))] if rows else []
    return tuple(found)
