"""Why requests of an open loop were not sent."""

from __future__ import annotations

from services.python.contract.limits import SATURATED
from services.python.load.phases import NS
from services.python.load.recorder import Tally

_ALL_BUSY = 0.9  # of the time of all connections, in which requests were under way


def not_sent_reason(tally: Tally, concurrency: int, cpu_s: float) -> str | None:
    """All connections waited for replies, or the requester was behind; None where all were sent."""
    if not tally.not_sent:
        return None
    available_s = tally.span_s * concurrency
    waited = tally.busy_ns / NS >= _ALL_BUSY * available_s and cpu_s <= SATURATED * tally.span_s
    return "connections-busy" if waited else "requester-behind"
