"""Windows that a cell sets: what they let through in a round trip, and where they say nothing of a transfer. Pure.

A window is how many bytes a sender may have under way before the receiver says that it may go on. So of a body that is
larger, no more than a window arrives in each round trip.
"""

from __future__ import annotations

from math import ceil

from orchestrator.catalogue.offers import Client
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.plan.plan import Operation
from services.python.contract.knobs import FLOW_WINDOW, REPLIES, TCP_WINDOW

WINDOWS = (FLOW_WINDOW, TCP_WINDOW)
_LARGEST_REPLY = 32_768  # bytes of content that no codec here makes larger than the smallest window


def window_of(values: Values) -> int | None:
    """The smallest window that a cell sets, in bytes; None where it sets none."""
    return min((size for name in WINDOWS if isinstance(size := values.get(name), int)), default=None)


def rounds_beyond_first(values: Values, body_bytes: float) -> int:
    """Round trips beyond the first that a body of this size needs under the window that a cell sets; 0 without one."""
    window = window_of(values)
    return 0 if window is None else max(0, ceil(body_bytes / window) - 1)


def refusal_of_replies(client: Client, operation: Operation, call: Values) -> str | None:
    """Why a cell's replies are not held back by the window that it sets, with what to do; None where they are."""
    window, reason = call.get(FLOW_WINDOW), client.refuses.get(REPLIES)
    if reason is None or not isinstance(window, int) or operation.reply_bytes <= _LARGEST_REPLY:
        return None
    return (
        f"`{FLOW_WINDOW}: {window}` is the responder's for requests, and {reason}: it would not hold back a reply of "
        f"{operation.reply_bytes:,} B. Ask for replies of at most {_LARGEST_REPLY:,} B"
    )
