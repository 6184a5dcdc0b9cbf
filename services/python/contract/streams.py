"""How many events a subscription has, and how far apart they are due: both ends and the analysis count by it."""

from __future__ import annotations

NS = 1_000_000_000
SHORTEST_INTERVAL_NS = 1_000


def schedule(per_second: float, seconds: float) -> tuple[int, int]:
    """The interval in whole nanoseconds, and the number of events due in so many seconds, at least one.

    >>> schedule(500.0, 10.0), schedule(3.0, 0.0)
    ((2000000, 5000), (333333333, 1))
    """
    interval_ns = max(SHORTEST_INTERVAL_NS, round(NS / per_second))
    return interval_ns, max(1, round(seconds * NS) // interval_ns)
