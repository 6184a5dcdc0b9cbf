"""Whether a run may be resumed here: its first trials and its last must have been made under the same conditions. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# What `services.harness.describe` says of a host and may differ between two looks at an unchanged one.
VOLATILE = frozenset(
    {"counters", "load_average", "uptime_s", "boot_id", "monotonic_ns", "wall_ns", "clock", "metadata"}
)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two descriptions of a host, as `what: before, now after`; empty when nothing does.

    >>> differences({"kernel": "6.1", "uptime_s": 1}, {"kernel": "6.2", "uptime_s": 2})
    ['kernel: 6.1, now 6.2']
    """
    old, new = dict(_flat(before)), dict(_flat(after))
    return [
        f"{key}: {old.get(key, 'not there')}, now {new.get(key, 'not there')}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def versions(ready: Mapping[str, Any], dones: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The libraries of both ends as a responder's `ready` and requesters' `done` lines name them.

    >>> versions({"versions": {"flask": "3.1"}}, [{"versions": {"pycurl": "7.4"}}])
    {'flask': '3.1', 'pycurl': '7.4'}
    """
    found: dict[str, str] = {}
    for line in (ready, *dones):
        found |= line.get("versions") or {}
    return found


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if key in VOLATILE:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
