"""Tables below those of latencies: costs, hosts, bytes, codecs alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.evidence import requester_hosts
from orchestrator.findings.cost import COSTS, PER, PRICED, SHOWN
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.questions.evolution import words as evolution
from orchestrator.wording import message_sizes
from orchestrator.wording.settings import Setting, Settings

Rows = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]
"""Heads and rows of a table, whose first and last column are text."""

WHOLE_LIFE = "‡"  # behind a peak of memory that is not of the measured phase alone
_PACKET_BYTES = 1448  # of a body that fills one: larger ones take more time
_FAR_APART = 1.05  # how many times as large a body is that a table of bytes is worth reading for
_COST_HEADS = {
    "responder_cpu": "CPU: responder",
    "requester_cpu": "requester",
    "responder_memory": "memory: responder",
    "requester_memory": "requester",
    "wire_bytes_sent": "sent",
    "wire_bytes_received": "received",
    "packets_sent": "packets: out",
    "packets_received": "in",
    "responder_usd": "a million: responder",
    "requester_usd": "requester",
    "traffic_usd": "traffic",
}


def beside(setting: Setting, settings: Settings) -> Iterator[Rows]:
    """Yield what a setting has beside its latencies."""
    labelled = [(settings.labels[cell.id], cell) for cell in setting.cells]
    codecs = [(label, cell) for label, cell in labelled if cell.kind == "codec" and cell.parts]
    if codecs:
        yield _codecs(codecs, setting.unit)
    summary = settings.summary
    sizes = message_sizes.sentences(summary.cells, summary.comparisons, summary.matters)
    yield from _bytes(labelled, is_asked=bool(sizes))
    if hosts := [(of.host, label, of) for label, cell in labelled for of in cell.requester_hosts]:
        heads_of_hosts = ("requester host", "asks", *requester_hosts.heads(setting.unit), "")
        yield (
            heads_of_hosts,
            [(host, label, *requester_hosts.figures(of, setting.unit), "") for host, label, of in hosts],
        )
    yield from _costs(labelled, settings)


def _bytes(labelled: Sequence[tuple[str, CellSummary]], *, is_asked: bool) -> Iterator[Rows]:
    """How many bytes were sent and received, where bodies differ and that was compared or they fill a packet."""
    rows = [
        (label, c, c.body_bytes) for label, c in labelled if c.body_bytes is not None and c.kind in ("call", "task")
    ]
    totals = [sum(body) for _, _, body in rows]
    if totals and max(totals) > _FAR_APART * min(totals) and (is_asked or max(totals) > _PACKET_BYTES):
        heads = ("stack", "request body, bytes", "reply body, bytes", "sent on the wire", "received on the wire", "")
        yield heads, [(label, *_two(body), *_two(cell.wire_bytes), "") for label, cell, body in rows]


def _two(sizes: tuple[float, float] | None) -> tuple[str, str]:
    sent, received = ("-", "-") if sizes is None else (quantities.number(size, 1) for size in sizes)
    return sent, received


def _codecs(labelled: Sequence[tuple[str, CellSummary]], unit: quantities.Unit) -> Rows:
    """What codecs alone took to encode and to decode, and how large messages became."""
    parts = [f"{part.name}, {unit.name}" for part in labelled[0][1].parts]
    outcomes = [evolution.said(cell) for _, cell in labelled]
    rows = [
        (label, *(unit.text(part.median) for part in cell.parts), *_two(cell.body_bytes), outcome)
        for (label, cell), outcome in zip(labelled, outcomes, strict=True)
    ]
    return ("stack", *parts, "request, bytes", "reply, bytes", "what came of it" if any(outcomes) else ""), rows


def _costs(labelled: Sequence[tuple[str, CellSummary]], settings: Settings) -> Iterator[Rows]:
    """What requests cost; the last column compares by the responder's CPU time."""
    names = [name for name in (*SHOWN, *PRICED) if any(name in cell.costs for _, cell in labelled)]
    if not names:
        return
    sample = quantities.sample(cell.kind for _, cell in labelled)
    by = "responder_cpu" if "responder_cpu" in names else "requester_cpu"
    heads = (f"{PER:,} {sample}s with", *(_cost_head(name, names) for name in names), f"by {COSTS[by]}")
    yield (
        heads,
        [
            (label, *(_cost(cell, name) for name in names), _cost_against(cell, by, settings))
            for label, cell in labelled
        ],
    )


def _cost_head(name: str, names: Sequence[str]) -> str:
    """A requester's figure says of what it is where no responder's stands before it, as of a codec alone."""
    before = f"responder_{name.removeprefix('requester_')}"
    if name.startswith("requester_") and before not in names:
        return _COST_HEADS[before].replace("responder", "requester")
    return _COST_HEADS[name]


def _cost(cell: CellSummary, name: str) -> str:
    cost = cell.costs.get(name)
    return "-" if cost is None else quantities.cost(name, cost.value) + WHOLE_LIFE * cost.is_whole_life


def _cost_against(cell: CellSummary, quantity: str, settings: Settings) -> str:
    if cell.id in settings.invalid:
        return "invalid"
    every = settings.against(cell, quantity)
    texts = [f"{settings.reference(c)}: {standing(c)}" if len(every) > 1 else standing(c) for c in every]
    return "; ".join(texts) or ("reference" if settings.is_reference(cell) else "-")


def standing(comparison: Comparison) -> str:
    """Return `faster, 0.46× (0.43 to 0.49)`."""
    if comparison.ratio is None:
        return comparison.standing
    bounds = comparison.interval
    low_high = "" if bounds is None else " ({} to {})".format(*quantities.bounds(bounds))
    return f"{comparison.standing}, {quantities.factor(comparison.ratio)}×{low_high}"
