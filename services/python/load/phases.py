"""Which requests a phase of a trial has: numbers them, and says when the phase is over. Pure but for its own count."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect
from collections.abc import Sequence
from typing import Any

from services.python.contract.generator import GAP_BITS, below, exponential_gaps, words
from services.python.contract.lines import Load, Warmup
from services.python.contract.strict import Part, part

WARM_UP, MEASURED = 0, 1
PHASE_NAMES = ("warm-up", "measured")

NS = 1_000_000_000
_FRACTION_BITS = 20  # arrivals are added up in fractions of a nanosecond


SLOWEST_RATE = 1e-6  # one request in eleven days
NEVER = 1 << 62  # more requests, or nanoseconds, than any phase has


def progress_line(phase: int, requests: int, elapsed_ns: int) -> dict[str, Any]:
    """What a requester says of a phase, once a second: how many requests, or events, since it began."""
    return {
        "type": "progress",
        "phase": PHASE_NAMES[phase],
        "requests": requests,
        "elapsed_s": round(elapsed_ns / NS, 3),
    }


@part
class Extent(Part):
    """How long a phase goes on: to `requests` and to `least_ns`, whichever is later, but not beyond `most_ns`."""

    requests: int = NEVER
    least_ns: int = 0
    most_ns: int = NEVER

    def goes_on(self, taken: int, elapsed_ns: int) -> bool:
        """Whether one more request belongs to the phase after `taken` requests and so many nanoseconds."""
        return elapsed_ns < self.most_ns and (taken < self.requests or elapsed_ns < self.least_ns)


class Phase:
    """One phase. Workers `take` a number each before they send; 0 says that the phase is over.

    `extent` says how long it goes on, and `most` is how many requests it has at most. Threads take without a lock: one
    that waits for a lock gives up the interpreter, in the middle of the others' requests. So what `extent` allows may be
    passed by as many requests as take at once; `most` is kept exactly, and no number is left out or given twice.
    """

    __slots__ = (
        "_latest",
        "_least_ns",
        "_most",
        "_most_ns",
        "_numbers",
        "_requests",
        "begin_ns",
        "first_sequence",
        "number",
    )

    def __init__(self, *, number: int, begin_ns: int, first_sequence: int, extent: Extent, most: int | None) -> None:
        self.number = number
        self.begin_ns = begin_ns
        self.first_sequence = first_sequence
        self._most = most
        self._requests = extent.requests
        self._least_ns = begin_ns + extent.least_ns
        self._most_ns = begin_ns + extent.most_ns
        self._numbers = itertools.count()
        self._latest = -1

    def take(self, now_ns: int) -> int:
        """The next sequence number, or 0. `Extent.goes_on`, written out: it stands between any two requests."""
        if now_ns >= self._most_ns or (self._latest + 1 >= self._requests and now_ns >= self._least_ns):
            return 0
        index = next(self._numbers)  # one step of the interpreter
        if self._most is not None and index >= self._most:
            return 0
        self._latest = index
        return self.first_sequence + index

    def end(self) -> None:
        """No number is given any more."""
        self._most_ns = 0

    def is_over(self, now_ns: int) -> bool:
        """Whether `take` would give no number at that time."""
        return (
            now_ns >= self._most_ns
            or (self._latest + 1 >= self._requests and now_ns >= self._least_ns)
            or (self._most is not None and self._latest + 1 >= self._most)
        )

    @property
    def ends_ns(self) -> int:
        """When it is over at the latest."""
        return self._most_ns

    def take_rest(self) -> range:
        """The indices, from 0, of what was never taken of `most`; from here on all of it is."""
        assert self._most is not None  # noqa: S101 - narrows the type
        rest = range(self.taken, self._most)
        self._numbers = itertools.count(self._most)
        return rest

    @property
    def taken(self) -> int:
        drawn = int(self._numbers.__reduce__()[1][0])
        return drawn if self._most is None else min(drawn, self._most)

    @property
    def next_sequence(self) -> int:
        """Where the next phase goes on."""
        return self.first_sequence + self.taken


def warm_up(warmup: Warmup) -> Extent:
    """Until so many requests and so many seconds are both reached, but never longer than `at_most_s`."""
    return Extent(requests=warmup.requests, least_ns=int(warmup.at_least_s * NS), most_ns=int(warmup.at_most_s * NS))


def measured(load: Load) -> Extent:
    """Until so many requests or so many seconds, whichever comes first; ValueError when the load has neither."""
    if load.requests is None and load.duration_s is None:
        raise ValueError("load: give requests, duration_s, or both; nothing would end this trial")
    return Extent(
        requests=NEVER if load.requests is None else load.requests,
        most_ns=NEVER if load.duration_s is None else int(load.duration_s * NS),
    )


RESTS = 65_536  # how many exponential rests are drawn for a trial; then they come again from the first on


@part
class Rests(Part):
    """How long the workers of a closed loop with think time rest, in nanoseconds (`protos/payloads.md`).

    `drawn` holds the exponential ones, and is empty where all are `mean_ns` long.
    """

    mean_ns: int
    workers: int
    drawn: array[int]

    def first_ns(self, worker: int) -> int:
        """Before the first request of a worker, counted from 0: workers do not begin all at once."""
        return self.drawn[worker % RESTS] if self.drawn else self.mean_ns * worker // self.workers

    def after_ns(self, index: int) -> int:
        """After the phase's request of that index, from 0 in the order of sequence numbers."""
        return self.drawn[(self.workers + index) % RESTS] if self.drawn else self.mean_ns


def rests(load: Load, seed: int) -> Rests | None:
    """The rests of a closed loop with think time; None where it has none."""
    if load.rate_per_s is not None or not load.think_s:
        return None
    mean = int(load.think_s * NS)
    drawn = array("q")
    if load.thinking == "exponential":
        drawn.extend(mean * gap >> GAP_BITS for gap in itertools.islice(exponential_gaps(seed, "think"), RESTS))
    return Rests(mean_ns=mean, workers=load.concurrency, drawn=drawn)


def arrivals(load: Load, seed: int) -> array[int]:
    """When each request of an open loop is due, nanoseconds from the beginning of the phase (`protos/payloads.md`).

    `uniform` spaces them evenly; `poisson` draws exponential gaps of the same mean, as independent users would come
    (the schedule depends on the seed alone, never on the replies).
    """
    rate = load.rate_per_s
    if rate is None or not SLOWEST_RATE <= rate <= NS:
        raise ValueError(f"load: an open loop needs a rate above 0, from {SLOWEST_RATE} to {NS:,} a second, not {rate}")
    extent = measured(load)
    mean = int((NS << _FRACTION_BITS) / rate)
    gaps = itertools.repeat(1 << GAP_BITS) if load.arrivals == "uniform" else exponential_gaps(seed)
    due, at = array("q"), 0
    for gap in gaps:
        at_ns = at >> _FRACTION_BITS
        if not extent.goes_on(len(due), at_ns):
            break
        due.append(at_ns)
        at += mean * gap >> GAP_BITS
    return due


MIXED = 65_536  # how many requests of a mix are drawn for a trial; then they come again from the first on


def mix_order(weights: Sequence[int], seed: int) -> array[int]:
    """The place of each request's operation in its mix, from 0, by sequence number from 1 on (`protos/payloads.md`)."""
    if len(weights) < 2 or min(weights) < 1:
        raise ValueError("mix: two operations or more, each with a weight of 1 or more")
    bounds, total = list(itertools.accumulate(weights)), sum(weights)
    return array("b", [bisect(bounds, below(word, total)) for word in words(f"mix/{seed}", MIXED)])


def place_in_mix(drawn: array[int], sequence: int) -> int:
    """The place of the operation of a sequence number."""
    return drawn[(sequence - 1) % MIXED]
