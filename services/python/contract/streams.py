"""How many events a subscription has, and how far apart they are due: both ends and the analysis count by it."""

from __future__ import annotations

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
