"""Which requests a phase of a trial has: numbers them, and says when the phase is over. Pure but for its own count."""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from services.python.contract.lines import Load, Warmup

WARM_UP, MEASURED = 0, 1
PHASE_NAMES = ("warm-up", "measured")

NS = 1_000_000_000


@dataclass(kw_only=True)
class Phase:
    """One phase. Workers `take` a number each before they send; 0 says that the phase is over.

    `more(taken, elapsed_ns)` says whether one more request belongs to it, and `most` is how many there are at most.
    Threads take without a lock: one that waits for a lock gives up the interpreter, in the middle of the others'
    requests. So `more` may see a number that is too small by as many as take at once; `most` is kept exactly, and no
    number is left out or given twice.
    """

    number: int
    begin_ns: int
    first_sequence: int
    more: Callable[[int, int], bool]
    most: int | None
    over: bool = field(default=False, init=False)
    _numbers: itertools.count[int] = field(default_factory=itertools.count, init=False, repr=False)
    _latest: int = field(default=-1, init=False, repr=False)

    def take(self, now_ns: int) -> int:
        """The next sequence number, or 0."""
        if self.over or not self.more(self._latest + 1, now_ns - self.begin_ns):
            return 0
        index = next(self._numbers)  # one step of the interpreter
        if self.most is not None and index >= self.most:
            return 0
        self._latest = index
        return self.first_sequence + index

    def take_rest(self) -> range:
        """The indices, from 0, of what was never taken of `most`; from here on all of it is."""
        assert self.most is not None  # noqa: S101 - narrows the type
        rest = range(self.taken, self.most)
        self._numbers = itertools.count(self.most)
        return rest

    @property
    def taken(self) -> int:
        """How many numbers were given. Exact when no thread is taking."""
        drawn = int(self._numbers.__reduce__()[1][0])
        return drawn if self.most is None else min(drawn, self.most)

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
