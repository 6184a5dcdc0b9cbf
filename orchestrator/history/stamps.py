"""Reads raw files of request and response stamps, as other people's scripts write them: JSON, or a JSON object a line.

Each entry has a request stamp and a response stamp, by one of the names of `REQUEST` and `RESPONSE`: ISO 8601, or a number
of seconds, milliseconds, microseconds or nanoseconds since 1970. The unit is found from the stamps' size and is the same for
the whole file. What cannot be a latency is counted and left out: an entry without both stamps, and one whose response stands
before its request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from orchestrator.errors import UsageError
from orchestrator.strict_json import parse_json

REQUEST = ("request_timestamp", "request_time", "request_ts", "sent_at", "sent", "start", "start_time")
RESPONSE = ("response_timestamp", "response_time", "response_ts", "received_at", "received", "end", "end_time")
GROUPS = ("protocol", "operation")
LISTS = ("results", "requests", "entries", "data", "timestamps", "measurements")

TOO_COARSE = "no time passed: the stamps are too coarse"

Unit: TypeAlias = Literal["ISO 8601", "s", "ms", "us", "ns"]

MOST_ENTRIES = 1_000_000
_LONGEST_NS = 24 * 3600 * 10**9
_EARLIEST_S, _LATEST_S = 946_684_800, 4_102_444_800  # 2000 to 2100
_PER_S: Mapping[Unit, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOST_OF_A_NAME = 100


@dataclass(kw_only=True)
class Group:
    """Entries of one protocol and operation (either may be ""): latencies in ns, in the order of the file."""

    protocol: str
    operation: str
    latencies_ns: list[int] = field(default_factory=list)


@dataclass(kw_only=True)
class Stamps:
    """What a file holds. `missing`: entries without both stamps; `impossible`: refused latencies, by why."""

    entries: int = 0
    unit: Unit = "ISO 8601"
    keys: tuple[str, str] = ("", "")
    groups: list[Group] = field(default_factory=list)
    missing: int = 0
    impossible: dict[str, int] = field(default_factory=dict)
    first_ns: int | None = None
    last_ns: int | None = None

    @property
    def used(self) -> int:
        """Entries that gave a latency."""
        return sum(len(group.latencies_ns) for group in self.groups)

    def counted(self) -> dict[str, Any]:
        """What was found and what was left out, as plain data."""
        return {
            "entries": self.entries,
            "used": self.used,
            "missing": self.missing,
            "impossible": self.impossible,
            "unit": self.unit,
            "keys": list(self.keys),
        }


def read_stamps(content: bytes, name: str) -> Stamps:
    """The stamps in a file; UsageError, which names it, where it holds none that can be read."""
    entries = _entries(content, name)
    keys = _keys(entries, name)
    found = Stamps(entries=len(entries), keys=keys)
    found.unit = _unit((entry.get(key) for entry in entries for key in keys), name)
    groups: dict[tuple[str, str], Group] = {}
    impossible: Counter[str] = Counter()
    for entry in entries:
        asked, answered = (_ns(entry.get(key), found.unit) for key in keys)
        if asked is None or answered is None:
            found.missing += 1
            continue
        why = _why_impossible(asked, answered)
        if not why and found.unit == "ISO 8601" and len({_has_zone(entry[key]) for key in keys}) > 1:
            why = "one of its stamps has a time zone, the other has none"
        if why:
            impossible[why] += 1
            continue
        named = (_name(entry.get(GROUPS[0])), _name(entry.get(GROUPS[1])))
        group = groups.setdefault(named, Group(protocol=named[0], operation=named[1]))
        group.latencies_ns.append(answered - asked)
        found.first_ns = asked if found.first_ns is None else min(found.first_ns, asked)
        found.last_ns = answered if found.last_ns is None else max(found.last_ns, answered)
    found.groups, found.impossible = list(groups.values()), dict(impossible)
    if not found.used:
        refused = sum(impossible.values())
        raise UsageError(
            f"{name}: none of its {found.entries:,} entries gives a latency: {found.missing:,} lack a stamp, "
            f"{refused:,} are impossible",
            hint=_HINT,
        )
    return found


_HINT = (
    'write entries like {"request_timestamp": "2026-11-21T09:00:00.000000", "response_timestamp": "..."}: a list of them, '
    "or one a line (docs/history.md)"
)


def _entries(content: bytes, name: str) -> list[dict[str, Any]]:
    try:
        document = parse_json(content)
    except ValueError as whole:
        try:
            lines = [line for line in content.splitlines() if line.strip()]
            document = [parse_json(line) for line in lines[: MOST_ENTRIES + 1]]
        except ValueError:
            raise UsageError(f"{name} is neither JSON nor JSON lines: {whole}", hint=_HINT) from whole
    if isinstance(document, dict):
        listed = next((document[key] for key in LISTS if isinstance(document.get(key), list)), None)
        document = [document] if listed is None else listed
    if not isinstance(document, list) or not document or not all(isinstance(entry, dict) for entry in document):
        raise UsageError(f"{name} is no list of objects with stamps", hint=_HINT)
    if len(document) > MOST_ENTRIES:
        raise UsageError(f"{name} has more than {MOST_ENTRIES:,} entries", hint="split it")
    return document


def _keys(entries: Iterable[Mapping[str, Any]], name: str) -> tuple[str, str]:
    """Which two keys hold the stamps: the first of the known names that any entry has."""
    had = {key for entry in entries for key in entry}
    request = next((key for key in REQUEST if key in had), None)
    response = next((key for key in RESPONSE if key in had), None)
    if request is None or response is None:
        lacks = "request" if request is None else "response"
        names = ", ".join(REQUEST if request is None else RESPONSE)
        raise UsageError(f"{name}: no entry has a {lacks} stamp", hint=f"known keys: {names}")
    return request, response


def _unit(values: Iterable[Any], name: str) -> Unit:
    """The one unit in which every stamp lies between the years 2000 and 2100."""
    units: set[Unit] = set()
    for value in values:
        if isinstance(value, str):
            units.add("ISO 8601")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            fits: list[Unit] = [unit for unit, per_s in _PER_S.items() if _EARLIEST_S <= value / per_s < _LATEST_S]
            if not fits:
                raise UsageError(
                    f"{name}: {value!r} is no time between 2000 and 2100 in s, ms, us or ns",
                    hint="stamps are times since 1970; a monotonic clock's are not known here",
                )
            units.add(fits[0])
    if len(units) > 1:
        raise UsageError(f"{name}: its stamps are in several units: {', '.join(sorted(units))}", hint="use one")
    return units.pop() if units else "ISO 8601"


def _ns(value: Any, unit: Unit) -> int | None:
    """A stamp as ns since 1970; None where it is none."""
    if unit == "ISO 8601":
        if not isinstance(value, str):
            return None
        try:
            found = datetime.fromisoformat(value)
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
            passed = found - datetime(1970, 1, 1, tzinfo=UTC)
        except (ValueError, OverflowError):
            return None
        return ((passed.days * 86_400 + passed.seconds) * 10**6 + passed.microseconds) * 10**3
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    per_unit = 10**9 // _PER_S[unit]
    return value * per_unit if isinstance(value, int) else round(value * per_unit)


def _has_zone(stamp: str) -> bool:
    return any(sign in stamp[8:] for sign in "+-Zz")


def _why_impossible(asked: int, answered: int) -> str:
    if answered < asked:
        return "the response is earlier than the request"
    if answered == asked:
        return TOO_COARSE
    if answered - asked > _LONGEST_NS:
        return "longer than a day"
    return ""


def _name(value: Any) -> str:
    return str(value)[:_MOST_OF_A_NAME] if isinstance(value, str | int | float) else ""
