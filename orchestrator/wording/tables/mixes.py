"""The operations of a mix, as text for a table: the same in terminal and report."""

from __future__ import annotations

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


def figures(mixed: MixedSummary, unit: quantities.Unit) -> tuple[str, ...]:
    """A row, below `HEADS`."""
    drawn = "-" if mixed.drawn is None else quantities.percent(mixed.drawn)
    errors = f"{mixed.failed:,}" + (f", {mixed.not_sent:,} not sent" if mixed.not_sent else "")
    interval = "-"
    if mixed.median_interval is not None:
        is_vague = quantities.is_vague(mixed.median_interval)
        interval = "*" if is_vague else " to ".join(map(unit.text, mixed.median_interval))
    return (
        f"{quantities.percent(mixed.share)} ({drawn})",
        _value(mixed, "median", unit),
        interval,
        _value(mixed, "p99", unit),
        "-" if mixed.throughput_per_s is None else quantities.rate(mixed.throughput_per_s),
        errors,
        *(("-", "-") if mixed.body_bytes is None else (quantities.number(size, 1) for size in mixed.body_bytes)),
    )


def _value(mixed: MixedSummary, name: str, unit: quantities.Unit) -> str:
    distribution = mixed.distribution
    if distribution is None:
        return "-"
    if name in distribution.censored:
        return "no reply" if distribution.limit is None else f"> {quantities.ms(distribution.limit)}"
    value = getattr(distribution, name)
    return "-" if value is None else unit.text(value)


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the operations of a mix, a table for each setting."""
    settings: dict[str, list[tuple[str, MixedSummary]]] = {}
    for cell in summary.cells:
        for mixed in cell.details.mixed:
            settings.setdefault(cell.setting, []).append((cell.labels.stack, mixed))
    shown = []
    for setting, rows in settings.items():
        unit = quantities.unit_for(mixed.distribution.median for _, mixed in rows if mixed.distribution)
        texts = [(mixed.label, stack, *figures(mixed, unit)) for stack, mixed in rows]
        heads = ("operation", "with", *(head.format(unit=unit.name) for head in HEADS))
        shown.append(text_table(f"operations of the mix · {setting}", heads, texts, (NOTE,)))
    return tuple(shown)
