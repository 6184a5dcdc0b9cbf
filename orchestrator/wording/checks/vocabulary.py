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
CAUSES: Mapping[str, str] = {}
"""What requests wait for, by the name of the cause (`checks.latency.modes`)."""
