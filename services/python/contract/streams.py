"""How many events a subscription has, and how far apart they are due: both ends and the analysis count by it."""

from __future__ import annotations

from collections.abc import Mapping

from services.python.contract.knobs import READ_RATE

NS = 1_000_000_000
SHORTEST_INTERVAL_NS = 1_000
LONGEST_INTERVAL_NS = 1_000_000_000_000_000_000  # 31 years; every number of nanoseconds stays one of 64 bits
MOST_EVENTS = 2_000_000
"""Of all clients of a requester in one trial, its warm-up included: every one is a row, kept to the end."""


def schedule(per_second: float, seconds: float) -> tuple[int, int]:
    """The interval in whole nanoseconds, and the number of events due in so many seconds, at least one.

    >>> schedule(500.0, 10.0), schedule(3.0, 0.0)
    ((2000000, 5000), (333333333, 1))
    """
    interval_ns = max(SHORTEST_INTERVAL_NS, round(min(NS / per_second, LONGEST_INTERVAL_NS)))
    return interval_ns, max(1, round(seconds * NS) // interval_ns)


def read_interval_ns(knobs: Mapping[str, str]) -> int:
    """How long a client waits at least between two events that it reads; 0 where it reads them as they come.

    >>> read_interval_ns({"read_rate": "200"}), read_interval_ns({})
    (5000000, 0)
    """
    rate = knobs.get(READ_RATE)
    return 0 if rate is None or not rate.isdecimal() else NS // int(rate)


def lasts_ns(count: int, interval_ns: int, reading_ns: int = 0) -> int:
    """When the last event of a stream is due, or done with by a client that takes `reading_ns` for each.

    >>> lasts_ns(5, 10), lasts_ns(5, 10, 20)
    (40, 100)
    """
    return max((count - 1) * interval_ns, count * reading_ns)


def reads_for_s(duration_s: float, per_second: float, knobs: Mapping[str, str]) -> float:
    """How long a client is busy with a stream of so many seconds: longer than it lasts where it reads slowly.

    >>> reads_for_s(10.0, 500.0, {"read_rate": "200"}), reads_for_s(10.0, 100.0, {"read_rate": "200"})
    (25.0, 10.0)
    """
    return max(duration_s, duration_s * per_second * read_interval_ns(knobs) / NS)
