"""Which requests a phase of a trial has: numbers them, and says when the phase is over. Pure but for its own count."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from services.harness.contract import Load, Warmup

WARM_UP, MEASURED = 0, 1
PHASE_NAMES = ("warm-up", "measured")

NS = 1_000_000_000


@dataclass(kw_only=True)
class Phase:
    """One phase. Workers `take` a number each before they send; 0 says that the phase is over.

    `more(taken, elapsed_ns)` says whether one more request belongs to it. Not thread-safe: threads take under a lock.
    """

    number: int
    begin_ns: int
    first_sequence: int
    more: Callable[[int, int], bool]
    taken: int = field(default=0, init=False)
    over: bool = field(default=False, init=False)

    def take(self, now_ns: int) -> int:
        """The next sequence number, or 0."""
        if self.over or not self.more(self.taken, now_ns - self.begin_ns):
            return 0
        sequence = self.first_sequence + self.taken
        self.taken += 1
        return sequence

    @property
    def next_sequence(self) -> int:
        """Where the next phase goes on."""
        return self.first_sequence + self.taken


def warm_up(warmup: Warmup) -> Callable[[int, int], bool]:
    """Until so many requests and so many seconds are both reached, but never longer than `at_most_s`."""
    requests, least_ns, most_ns = warmup.requests, int(warmup.at_least_s * NS), int(warmup.at_most_s * NS)
    return lambda taken, elapsed_ns: elapsed_ns < most_ns and (taken < requests or elapsed_ns < least_ns)


def measured(load: Load) -> Callable[[int, int], bool]:
    """Until so many requests or so many seconds, whichever comes first; ValueError when the load has neither."""
    requests, duration_s = load.requests, load.duration_s
    if requests is None and duration_s is None:
        raise ValueError("load: give requests, duration_s, or both; nothing would end this trial")
    if requests is None:
        most_ns = int((duration_s or 0) * NS)
        return lambda _taken, elapsed_ns: elapsed_ns < most_ns
    if duration_s is None:
        return lambda taken, _elapsed_ns: taken < requests
    limit, most_ns = requests, int(duration_s * NS)
    return lambda taken, elapsed_ns: taken < limit and elapsed_ns < most_ns


def arrivals(load: Load, seed: int) -> array[int]:
    """When each request of an open loop is due, nanoseconds from the beginning of the phase.

    `uniform` spaces them evenly; `poisson` draws exponential gaps of the same mean, as independent users would come
    (the schedule depends on the seed alone, never on the replies).
    """
    if load.rate_per_s is None or load.rate_per_s <= 0:
        raise ValueError(f"load: an open loop needs a rate above 0, not {load.rate_per_s}")
    more = measured(load)
    gap_ns = NS / load.rate_per_s
    draw = random.Random(seed).expovariate  # noqa: S311 - a load, not a secret
    due, at_ns = array("q"), 0.0
    while more(len(due), int(at_ns)):
        due.append(int(at_ns))
        at_ns += gap_ns if load.arrivals == "uniform" else draw(1.0) * gap_ns
    return due
