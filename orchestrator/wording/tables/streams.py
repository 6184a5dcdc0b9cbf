"""How what came of a stream's events is written, everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.findings.summary import DROPPED, RunSummary, StreamSummary
from orchestrator.quantities import Unit, significant, size, unit_for
from orchestrator.wording.tables.table import Table, text_table

TIMED_OF_EVENTS: Mapping[str, str] = {
    "delivery": "Latencies of events count from the sender's stamp to the receipt, both by the clock of the one host",
    "gap": "Latencies of events are the gaps between one and the next that came: sender and receiver are on two hosts, with"
    " a clock each, so that no delivery is known",
}
_COUNTS = ("offered", "sent", "delivered", "dropped", "duplicated", "reordered")
_LATENCIES = {
    "gap p50, {unit}": "gap_median",
    "gap p99, {unit}": "gap_p99",
    "delivery p50, {unit}": "delivery_median",
    "delivery p99, {unit}": "delivery_p99",
    "sender late p99, {unit}": "late_p99",
    "sender late at worst, {unit}": "worst_late",
}
HEADS_OF_EVENTS = (*_COUNTS, *_LATENCIES, "waiting at most", "sender's memory")


def of_events(stream: StreamSummary, unit: Unit) -> tuple[str, ...]:
    """The figures below `HEADS_OF_EVENTS`; a dash for what is not known, `dropped` for what falls among dropped events."""
    counts = (getattr(stream, name) for name in _COUNTS)
    latencies = {name: getattr(stream, name) for name in _LATENCIES.values()}
    return (
        *("-" if number is None else f"{number:,}" for number in counts),
        *(
            DROPPED if name in stream.censored else "-" if value is None else unit.text(value)
            for name, value in latencies.items()
        ),
        "-" if stream.waiting is None else f"{stream.waiting:,}",
        "-" if stream.sender_memory is None else size(significant(stream.sender_memory, 3)),
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what came of the events, a table for each setting."""
    settings: dict[str, list[tuple[str, StreamSummary]]] = {}
    for cell in summary.cells:
        if cell.details.stream is not None:
            settings.setdefault(cell.setting, []).append((cell.labels.stack, cell.details.stream))
    shown = []
    for setting, rows in settings.items():
        unit = unit_for(ms for _, stream in rows for ms in (stream.interval, stream.delivery_p99) if ms is not None)
        heads = ("stack", *(head.format(unit=unit.name) for head in HEADS_OF_EVENTS))
        texts = [(stack, *of_events(stream, unit)) for stack, stream in rows]
        notes = [f"{TIMED_OF_EVENTS[name]}." for name in dict.fromkeys(stream.timed for _, stream in rows)]
        shown.append(text_table(f"events · {setting}", heads, texts, notes))
    return tuple(shown)
