"""How many connections carry the requests in flight of a cell."""

from __future__ import annotations

from orchestrator.experiment.model.factors import Values
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

FACTOR = "connections"


def connections_of(values: Values, in_flight: int) -> int:
    """So many are kept open: one for each request in flight, unless fewer share them."""
    shared = values.get(FACTOR)
    return shared if isinstance(shared, int) else in_flight


def refusal_of_sharing(call: Values, load: Load, kind: Kind) -> str | None:
    """Why requests cannot share connections so, with what to do instead; None where they can, or each has its own."""
    shared = call.get(FACTOR)
    if not isinstance(shared, int) or kind == "stream":
        return None
    if call["connection"] == "per-request":
        return (
            f"`{FACTOR}: {shared}` shares kept connections, and `connection: per-request` opens one for each request. "
            f"Give `{FACTOR}: each`"
        )
    if shared > load.concurrency:
        return (
            f"`{FACTOR}: {shared}` is more than the {load.concurrency:,} in flight: some would carry nothing. "
            "Give fewer, or raise the concurrency"
        )
    return None
