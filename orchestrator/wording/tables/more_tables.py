"""Tables beside those of the result: costs, bytes, codecs alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.trial_values import COSTS, PER, SHOWN_COSTS
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.evolution import words as evolution
from orchestrator.wording import message_sizes
from orchestrator.wording.phrasing import change, change_span
from orchestrator.wording.tables.settings import Setting, Settings
from orchestrator.wording.tables.table import Table, text_table

_PACKET_BYTES = 1448  # of a body that fills one: larger ones take more time
_FAR_APART = 1.05  # how many times as large a body is that a table of bytes is worth reading for
_COST_HEADS = {
    "responder_cpu": "server CPU",
    "requester_cpu": "client CPU",
    "responder_memory": "server memory",
    "requester_memory": "client memory",
    "wire_bytes_sent": "sent",
    "wire_bytes_received": "received",
    "packets_sent": "packets out",
    "packets_received": "in",
}


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return them, setting by setting; none of the rates that a search tried."""
    settings = Settings(summary)
    shown = () if CAPACITY.of(summary).rates else settings.every
    sizes = message_sizes.sentences(summary.cells, summary.comparisons, summary.matters)
    every = (table for setting in shown for table in _of_setting(setting, settings, is_asked=bool(sizes)))
    return tuple(every)


def _of_setting(setting: Setting, settings: Settings, *, is_asked: bool) -> Iterator[Table]:
    cells = [(settings.labels[cell.id], cell) for cell in setting.cells]
    if with_parts := [(label, cell) for label, cell in cells if cell.details.parts]:
        yield _parts(with_parts, setting)
    yield from _bytes(cells, setting.title, is_asked=is_asked)
    yield from _costs(cells, setting.title, settings)


def _parts(cells: Sequence[tuple[str, CellSummary]], setting: Setting) -> Table:
    """The medians of the parts of a sample: a codec's encoding and decoding, a task's calls."""
    outcomes = [evolution.said(cell) for _, cell in cells]
    names = list(dict.fromkeys(part.name for _, cell in cells for part in cell.details.parts))[: quantities.PARTS_SHOWN]
    rows = []
    for (label, cell), outcome in zip(cells, outcomes, strict=True):
        medians = {part.name: setting.unit.text(part.median) for part in cell.details.parts}
        rows.append((label, *(medians.get(name, "-") for name in names), *_two(cell.sizes.body), outcome))
    heads = (*(f"{name}, {setting.unit.name}" for name in names), "request, bytes", "reply, bytes")
    outcome_head = "outcome" if any(outcomes) else ""
    return text_table(f"medians of the parts · {setting.title}", ("stack", *heads, outcome_head), rows, texts=1)


def _bytes(cells: Sequence[tuple[str, CellSummary]], title: str, *, is_asked: bool) -> Iterator[Table]:
    """Bytes sent and received, where bodies differ and that was compared or they fill a packet."""
    sized = [(label, cell, sum(cell.sizes.body)) for label, cell in cells if cell.sizes.body and cell.kind != "codec"]
    totals = [total for _, _, total in sized]
    if totals and max(totals) > _FAR_APART * min(totals) and (is_asked or max(totals) > _PACKET_BYTES):
        rows = [(label, *_two(cell.sizes.body), *_two(cell.sizes.wire)) for label, cell, _ in sized]
        heads = ("stack", "request body", "reply body", "sent on the wire", "received on the wire")
        yield text_table(f"bytes a request · {title}", heads, rows)


def _two(sizes: tuple[float, float] | None) -> tuple[str, str]:
    sent, received = ("-", "-") if sizes is None else (quantities.number(size, 1) for size in sizes)
    return sent, received


def _costs(cells: Sequence[tuple[str, CellSummary]], title: str, settings: Settings) -> Iterator[Table]:
    """What requests cost, and the responder's CPU time against the reference."""
    names = [name for name in SHOWN_COSTS if any(name in cell.means for _, cell in cells)]
    if not names:
        return
    by = "responder_cpu" if "responder_cpu" in names else "requester_cpu"
    yield text_table(
        f"cost of {PER:,} {quantities.sample((cell.kind for _, cell in cells), 's')} · {title}",
        ("stack", *(_COST_HEADS[name] for name in names), f"difference by {COSTS[by]}"),
        [(label, *(_cost(cell, name) for name in names), _against(cell, by, settings)) for label, cell in cells],
        (quantities.COSTS,),
    )


def _cost(cell: CellSummary, name: str) -> str:
    mean = cell.means.get(name)
    return "-" if mean is None else quantities.cost(name, mean.value)


def _against(cell: CellSummary, quantity: str, settings: Settings) -> str:
    """The difference to the reference with its interval."""
    if cell.id in settings.invalid:
        return "invalid"
    comparison = next(iter(settings.against(cell, quantity)), None)
    if comparison is None or comparison.ratio is None:
        return "reference" if comparison is None and settings.is_reference(cell) else "-"
    bounds = f" ({change_span(comparison.interval)})" if comparison.interval else ""
    return change(comparison.ratio) + bounds
