"""Words that checks of several folders share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Words: TypeAlias = str | tuple[str, str]
"""A clause, or a clause and what a reader can do."""

REPORTED: Mapping[str, str] = {
    "answered": "how many requests it answered",
    "cpu_s": "how much CPU time it used",
    "cpu_share": "how busy its core was",
    "entering_s": "how long it verified and recorded",
    "peers": "how many peers it saw",
}
"""What a field of a requester's or responder's last line says."""
CAUSES: Mapping[str, str] = {
    "delayed": "a delayed acknowledgement (40 ms on Linux): a message sent in several writes, with Nagle's algorithm on",
    "expect": "`Expect: 100-continue` that the responder does not answer (clients wait 1 s)",
    "lost": "a retransmission time-out (200 ms and the round trip on Linux): a packet was lost",
}
"""What requests wait for, by the name of the cause (`checks.latency.modes`)."""
REMEDIES: Mapping[str, str] = {
    "delayed": "Against Nagle's algorithm, set TCP_NODELAY or write each message at once.",
    "expect": "Send no `Expect` header, or have the responder answer it.",
}
"""What a reader can do against a cause."""
