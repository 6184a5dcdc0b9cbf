"""What requests cost, as a terminal shows it: a line for each stack below the latencies of a setting."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.answer import Row
from orchestrator.analysis.cost import COSTS, PER, PRICED, SHOWN

_HEADS = {
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
WHOLE_LIFE = "‡"  # behind a peak of memory that is not of the measured phase alone


def costs_of(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Heads and rows of the table; None where nothing was counted. The last column compares by the responder's CPU time."""
    names = [name for name in (*SHOWN, *PRICED) if any(name in row.costs for row in rows)]
    if not names:
        return None
    sample = " or ".join(dict.fromkeys(words.OF_SAMPLE[row.kind] for row in rows))
    by = "responder_cpu" if "responder_cpu" in names else "requester_cpu"
    heads = (f"{PER:,} {sample}s with", *(_head(name, names) for name in names), f"by {COSTS[by]}")
    return heads, [(row.label, *(_text(row, name) for name in names), _against(row, by)) for row in rows]


def _head(name: str, names: Sequence[str]) -> str:
    """A requester's figure says of what it is where no responder's stands before it, as of a codec alone."""
    before = f"responder_{name.removeprefix('requester_')}"
    if name.startswith("requester_") and before not in names:
        return _HEADS[before].replace("responder", "requester")
    return _HEADS[name]


def _text(row: Row, name: str) -> str:
    cost = row.costs.get(name)
    return "-" if cost is None else words.cost(name, cost.value) + WHOLE_LIFE * cost.is_whole_life


def _against(row: Row, quantity: str) -> str:
    said = []
    of = [against for against in row.costs_against if against.quantity == quantity]
    for against in of:
        whom = f"{against.reference}: " if len(of) > 1 else ""
        if against.ratio is None:
            said.append(f"{whom}{against.verdict}")
            continue
        bounds = against.ratio_interval
        low_high = "" if bounds is None else " ({} to {})".format(*words.bounds(bounds))
        said.append(f"{whom}{against.verdict}, {words.factor(against.ratio)}×{low_high}")
    return "; ".join(said) or ("reference" if row.verdict == "reference" else "-")
