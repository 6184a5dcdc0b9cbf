"""The operations of a mix, as text for a table: the same in terminal and report."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.findings.summary import MixedSummary, RunSummary
from orchestrator.wording.tables.table import Table, text_table

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


def heads(unit: quantities.Unit) -> tuple[str, ...]:
    """`HEADS` with a table's unit."""
    return tuple(head.format(unit=unit.name) for head in HEADS)


def figures(mixed: MixedSummary, unit: quantities.Unit) -> tuple[str, ...]:
    """A row, below `HEADS`."""
    drawn = "-" if mixed.drawn is None else quantities.percent(mixed.drawn)
    errors = f"{mixed.failed:,}" + (f", {mixed.not_sent:,} not sent" if mixed.not_sent else "")
    sent, received = (
        ("-", "-") if mixed.body_bytes is None else (quantities.number(size, 1) for size in mixed.body_bytes)
    )
    return (
        f"{quantities.percent(mixed.share)} ({drawn})",
        _value(mixed, "median", unit),
        _interval(mixed, unit),
        _value(mixed, "p99", unit),
        "-" if mixed.throughput_per_s is None else quantities.rate(mixed.throughput_per_s),
        errors,
        sent,
        received,
    )


def _value(mixed: MixedSummary, name: str, unit: quantities.Unit) -> str:
    distribution = mixed.distribution
    if distribution is None:
        return "-"
    if name in distribution.censored:
        return "no reply" if distribution.limit is None else f"> {quantities.ms(distribution.limit)}"
    value = getattr(distribution, name)
    return "-" if value is None else unit.text(value)


def _interval(mixed: MixedSummary, unit: quantities.Unit) -> str:
    if mixed.median_interval is None:
        return "-"
    return (
        "*"
        if quantities.is_vague(mixed.median_interval)
        else " to ".join(unit.text(bound) for bound in mixed.median_interval)
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the operations of a mix, a table for each setting."""
    settings: dict[str, list[tuple[str, MixedSummary]]] = {}
    for cell in summary.cells:
        for mixed in cell.details.mixed:
            settings.setdefault(cell.setting, []).append((cell.stack_label, mixed))
    return tuple(_table(setting, rows) for setting, rows in settings.items())


def _table(setting: str, rows: Sequence[tuple[str, MixedSummary]]) -> Table:
    medians = [mixed.distribution.median for _, mixed in rows if mixed.distribution]
    unit = quantities.unit_for(median for median in medians if median is not None)
    texts = [(mixed.label, stack, *figures(mixed, unit)) for stack, mixed in rows]
    return text_table(f"operations of the mix · {setting}", ("operation", "with", *heads(unit)), texts, (NOTE,))
