"""Whether a run may be resumed here: its first trials and its last must have been made under the same conditions. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready

# What `services.python.programs.describe` says of a host and may differ between two readings of an unchanged one.
VOLATILE = frozenset(
    {"counters", "load_average", "uptime_s", "boot_id", "monotonic_ns", "wall_ns", "clock", "metadata"}
)
# What says which instance it is, and nothing of the conditions: hosts that are made anew for `--resume` have others.
# Its machine type, zone, image, CPU platform, kernel and settings are conditions. So is its name: it follows from the
# run's id, and stays; where the provider gives none (local) it is all that tells one machine from another.
INSTANCE = frozenset({"cloud.id"})
# What the kernel works out at boot from the memory that is free then: it differs by some pages between two boots of the
# same machine. Compared as numbers.
SIZED_AT_BOOT = frozenset({"memory_bytes", "sysctl.net.ipv4.tcp_rmem", "sysctl.net.ipv4.tcp_wmem"})
_SIZE_TOLERANCE = 0.02


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two descriptions of a host, as `what: before, now after`; empty when nothing does.

    >>> differences({"kernel": "6.1", "uptime_s": 1}, {"kernel": "6.2", "uptime_s": 2})
    ['kernel: 6.1, now 6.2']
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    return [
        f"{key}: {old.get(key, 'not there')}, now {new.get(key, 'not there')}"
        for key in sorted(old.keys() | new.keys())
        if key not in INSTANCE and not _is_same(key, old.get(key), new.get(key))
    ]


def versions(ready: Ready | None, dones: Sequence[Done]) -> dict[str, str]:
    """The libraries of both ends as a responder's `ready` and requesters' `done` lines name them."""
    found = dict(ready.versions) if ready is not None else {}
    for line in dones:
        found |= line.versions
    return found


def _is_same(key: str, before: Any, after: Any) -> bool:
    if before == after:
        return True
    if key not in SIZED_AT_BOOT or before is None or after is None:
        return False
    old, new = str(before).split(), str(after).split()
    if len(old) != len(new) or not all(word.isdigit() for word in (*old, *new)):
        return False
    return all(math.isclose(int(a), int(b), rel_tol=_SIZE_TOLERANCE) for a, b in zip(old, new, strict=True))


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if key in VOLATILE:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
