"""Tables beside those of the result: costs, bytes, codecs alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.trial_values import COSTS, GOODPUT, PER, SHOWN_COSTS
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.wording.phrasing import change, change_span
from orchestrator.wording.tables.settings import Setting, Settings
from orchestrator.wording.tables.table import Table, text_table

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
    return tuple(table for setting in shown for table in _of_setting(setting, settings))


def _of_setting(setting: Setting, settings: Settings) -> Iterator[Table]:
    cells = [(settings.labels[cell.id], cell) for cell in setting.cells]
    if with_parts := [(label, cell) for label, cell in cells if cell.details.parts]:
        yield _parts(with_parts, setting)
    if any(cell.sizes.body and cell.kind != "codec" for _, cell in cells):
        yield _bytes(cells, setting.title)
    yield from _costs(cells, setting.title, settings)


def _parts(cells: Sequence[tuple[str, CellSummary]], setting: Setting) -> Table:
    names = list(dict.fromkeys(part.name for _, cell in cells for part in cell.details.parts))[: quantities.PARTS_SHOWN]
    rows = []
    for label, cell in cells:
        medians = {part.name: setting.unit.text(part.median) for part in cell.details.parts}
        rows.append(
            (
                label,
                *(medians.get(name, "-") for name in names),
                *map(_number, cell.sizes.body or (None, None)),
            )
        )
    heads = (*(f"{name}, {setting.unit.name}" for name in names), "request, bytes", "reply, bytes")
    return text_table(f"medians of the parts · {setting.title}", ("stack", *heads), rows)


def _bytes(cells: Sequence[tuple[str, CellSummary]], title: str) -> Table:
    """Bytes and packets of a request; of readers of few fields also what they fetch and nobody needs."""
    heads = ["stack", "request body", "reply body", "sent", "received", "packets out", "in"]
    rows = [[label, *_traffic(cell)] for label, cell in cells]
    columns = {
        "MB/s": [_goodput(cell) for _, cell in cells],
        "of the reply unneeded": [_number(cell.details.over_fetched_bytes) for _, cell in cells],
    }
    for head, entries in columns.items():
        if any(entry != "-" for entry in entries):
            heads.append(head)
            rows = [[*row, entry] for row, entry in zip(rows, entries, strict=True)]
    notes = (quantities.GOODPUT,) if "MB/s" in heads else ()
    return text_table(f"bytes and packets of a request · {title}", heads, rows, notes)


def _traffic(cell: CellSummary) -> Iterator[str]:
    for pair in (cell.sizes.body, cell.sizes.wire, cell.sizes.packets):
        yield from map(_number, pair or (None, None))


def _goodput(cell: CellSummary) -> str:
    goodput = cell.means.get(GOODPUT)
    bounds = f" ({' to '.join(map(quantities.digits, goodput.interval))})" if goodput and goodput.interval else ""
    return f"{quantities.digits(goodput.value)}{bounds}" if goodput else "-"


def _number(amount: float | None) -> str:
    return "-" if amount is None else quantities.number(amount, 1)


def _costs(cells: Sequence[tuple[str, CellSummary]], title: str, settings: Settings) -> Iterator[Table]:
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
    if cell.id in settings.invalid:
        return "invalid"
    comparison = next(iter(settings.against(cell, quantity)), None)
    if comparison is None or comparison.ratio is None:
        return "reference" if comparison is None and settings.is_reference(cell) else "-"
    bounds = f" ({change_span(comparison.interval)})" if comparison.interval else ""
    return change(comparison.ratio) + bounds
