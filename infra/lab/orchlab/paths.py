"""The wanted distance, worked out: which pairs of hosts a link connects, and how far apart they are. Pure functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MTU_BYTES = 1460  # as on Google's networks
DEVICE = "wan0"  # of every host, towards the others
_DEFAULT_RATE_MBIT = 1000.0
# What waits for its turn on a path of limited rate; beyond it packets are dropped, as in a router with this buffer.
_BUFFER_S = 0.1
_KEYS = ("rtt_ms", "jitter_ms", "rate_mbit", "loss", "initial_window")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The distance between two zones, as a round trip."""

    rtt_ms: float
    jitter_ms: float = 0.0
    rate_mbit: float = _DEFAULT_RATE_MBIT
    loss: float = 0.0
    initial_window: int | None = None  # segments, of TCP in both directions; None: the kernel's own


@dataclass(frozen=True, kw_only=True)
class End:
    """One end of paths: a host in its network namespace."""

    name: str
    netns: str
    address: str
    zone: str
    role: str  # requester, responder or both


@dataclass(frozen=True, kw_only=True)
class OneWay:
    """What happens to packets from one host to another."""

    delay_ns: int
    jitter_ns: int
    ns_per_byte: float
    buffer_ns: int
    loss: float

    @property
    def queue_packets(self) -> int:
        """Room for what is under way and what waits, in packets of full size."""
        travelling_ns = self.delay_ns + self.jitter_ns + self.buffer_ns
        return math.ceil(travelling_ns / (self.ns_per_byte * MTU_BYTES)) + 16


ZonePair = tuple[str, str]


def zone_pair(one: str, other: str) -> ZonePair:
    """Two zones in a fixed order: a link counts in both directions."""
    return (one, other) if one <= other else (other, one)


def wanted_by_zones(links: Sequence[Mapping[str, Any]]) -> dict[ZonePair, Wanted]:
    """The links as Terraform gives them (null where nothing was said), by pair of zones."""
    table: dict[ZonePair, Wanted] = {}
    for link in links:
        given = {key: link[key] for key in _KEYS if link.get(key) is not None}
        table[zone_pair(link["from_zone"], link["to_zone"])] = Wanted(**given)
    return table


def pairs(ends: Sequence[End]) -> Iterator[tuple[End, End]]:
    """Every two hosts once."""
    return itertools.combinations(ends, 2)


def representatives(ends: Sequence[End]) -> dict[ZonePair, tuple[End, End]]:
    """For each pair of zones between which something is asked, the two hosts that speak for it when the link is calibrated.

    Requesters do not ask each other: n zones of them would make n (n - 1) / 2 pairs that nobody measures.
    """
    speakers: dict[ZonePair, tuple[End, End]] = {}
    for one, other in pairs(ends):
        if (one.role, other.role) != ("requester", "requester"):
            speakers.setdefault(zone_pair(one.zone, other.zone), (one, other))
    return speakers


def one_way(wanted: Wanted, *, bias_ms: float = 0.0) -> OneWay:
    """Half a round trip, less half of what the link itself adds to it.

    Each way varies evenly by up to half the round trip's jitter.
    """
    delay_ms = max(0.0, (wanted.rtt_ms - bias_ms) / 2)
    return OneWay(
        delay_ns=round(delay_ms * 1e6),
        jitter_ns=round(min(wanted.jitter_ms / 2, delay_ms) * 1e6),
        ns_per_byte=8_000 / wanted.rate_mbit,
        buffer_ns=round(_BUFFER_S * 1e9),
        loss=wanted.loss,
    )


def initial_windows(ends: Sequence[End], table: Mapping[ZonePair, Wanted]) -> list[list[str]]:
    """The commands that set TCP's initial congestion window, by the route of each host to each other that asks for one."""
    commands = []
    for one, other in itertools.permutations(ends, 2):
        wanted = table.get(zone_pair(one.zone, other.zone))
        if wanted is not None and wanted.initial_window is not None:
            route = ["route", "replace", f"{other.address}/32", "dev", DEVICE]
            commands.append(["ip", "-n", one.netns, *route, "initcwnd", str(wanted.initial_window)])
    return commands


def without_chance(wanted: Wanted) -> Wanted:
    """The same distance with nothing random about it: what the link is calibrated with."""
    return Wanted(rtt_ms=wanted.rtt_ms, rate_mbit=wanted.rate_mbit)


def to_dict(wanted: Wanted) -> dict[str, float]:
    """For a record; what was not asked for is left out."""
    return {key: value for key, value in asdict(wanted).items() if value is not None}


def is_near(achieved_ms: float, wanted_ms: float) -> bool:
    """Whether a round trip is as wanted: off by at most 5 % or 0.5 ms, whichever is more.

    >>> is_near(0.4, 0.0), is_near(36.5, 35.0), is_near(37.0, 35.0)
    (True, True, False)
    """
    return abs(achieved_ms - wanted_ms) <= max(0.05 * wanted_ms, 0.5)
