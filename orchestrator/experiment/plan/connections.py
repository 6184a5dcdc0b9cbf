"""How many connections carry the requests in flight of a cell."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import BY_NAME
from services.python.contract.knobs import OF_SOCKETS
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

FACTOR = "connections"
_PINGS = "keepalive"


def connections_of(values: Values, in_flight: int) -> int:
    """So many are kept open: one for each request in flight, unless fewer share them."""
    shared = values.get(FACTOR)
    return shared if isinstance(shared, int) else in_flight


def refusal_of_sharing(call: Values, load: Load, kind: Kind) -> str | None:
    """Why connections cannot be shared or set so, with what to do instead; None where they can."""
    for name in OF_SOCKETS:
        if call.get("connection") == "per-request" and call.get(name) != BY_NAME[name].default:
            return (
                f"`{name}: {call[name]}` is set on connections that are kept, and `connection: per-request` keeps none. "
                "Give `connection: reuse`"
            )
    if call.get("connection") == "per-request" and isinstance(every := call.get(_PINGS), int):
        return (
            f"`{_PINGS}: {BY_NAME[_PINGS].level(every).shown}` pings connections that are kept, and"
            " `connection: per-request` keeps none. Give `connection: reuse`"
        )
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
