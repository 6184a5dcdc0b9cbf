"""Which requests a phase of a trial has: numbers them, and says when the phase is over. Pure but for its own count."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from services.python.contract.generator import GAP_BITS, exponential_gaps
from services.python.contract.lines import Load, Warmup

WARM_UP, MEASURED = 0, 1
PHASE_NAMES = ("warm-up", "measured")

NS = 1_000_000_000
_FRACTION_BITS = 20  # arrivals are added up in fractions of a nanosecond


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
    """When each request of an open loop is due, nanoseconds from the beginning of the phase (`protos/payloads.md`).

    `uniform` spaces them evenly; `poisson` draws exponential gaps of the same mean, as independent users would come
    (the schedule depends on the seed alone, never on the replies).
    """
    rate = load.rate_per_s
    if rate is None or not 0 < rate <= NS:
        raise ValueError(f"load: an open loop needs a rate above 0 and of at most {NS:,} a second, not {rate}")
    more = measured(load)
    mean = int((NS << _FRACTION_BITS) / rate)
    gaps = itertools.repeat(1 << GAP_BITS) if load.arrivals == "uniform" else exponential_gaps(seed)
    due, at = array("q"), 0
    for gap in gaps:
        at_ns = at >> _FRACTION_BITS
        if not more(len(due), at_ns):
            break
        due.append(at_ns)
        at += mean * gap >> GAP_BITS
    return due
