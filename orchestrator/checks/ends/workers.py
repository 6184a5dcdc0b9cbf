"""How the time of a closed loop's workers was spent, as their rows tell it: requests, rests, and the pauses between.

`flight` judges it, which says why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestrator.evidence.run_evidence import Samples
from orchestrator.statistics.quantiles import Nanoseconds, distinct

_FEWEST_PAIRS = 100
_STALLS = 3
_SLOWEST_SHARE, _FEWEST_SLOWEST = 0.01, 5
_SLOWEST_EXCESS_S = 15e-6


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Sum of all measured requests' time, and the window they lie in.

    `rests_s` is how long workers rested, late wake-ups included. With think time a `next send` below is when the rest before
    it was over, and the rest itself is in none of the pauses.
    `pause_s` is the median time from a reply to the next send of the same worker; None where it is not known whose it was.
    `gap_s` is the same from a reply to the send that it makes room for, and `gaps_s` are all of those, added up; None with
    fewer requests than may be in flight. `pauses_s` are those with each of the three longest taken for a typical one.
    `reopened`: connections that were kept open were opened again.
    `follows` is by how much a pause grows with the latency before it (0.1: by 1 ms with each 10 ms); None where too few
    requests tell.
    """

    requests: int
    call_s: float
    window_s: float
    pause_s: float | None
    follows: float | None
    gap_s: float | None = None
    gaps_s: float | None = None
    pauses_s: float | None = None
    reopened: bool = False
    rests_s: float = 0.0
    connections: int = 0
    slowest: Slowest | None = None


@dataclass(frozen=True, kw_only=True)
class Slowest:
    """The requests with the most time to the next send: how long they typically took, and how much longer they paused.

    There are `count` of them. `excess_s` is their median pause less that of all requests.
    """

    count: int
    call_s: float
    excess_s: float

    def is_cut(self, share: float) -> bool:
        """Whether so much of their time is in the pauses after them, and more than a few instructions take."""
        return self.excess_s > max(_SLOWEST_EXCESS_S, share * self.call_s)


def busy(samples: Samples) -> Busy:
    """Failed requests count too: their worker waited for them."""
    latencies, pauses = pauses_of(samples)
    gaps = samples.room_ns()
    middle = float(np.median(gaps)) if gaps.size else 0.0
    longest = np.sort(gaps)[-_STALLS:]
    connections = distinct(samples.connection)
    return Busy(
        requests=samples.measured,
        call_s=float((samples.received_ns - samples.sent_ns).sum()) / 1e9,
        window_s=samples.span_ns / 1e9,
        pause_s=float(np.median(pauses)) / 1e9 if pauses.size else None,
        follows=_follows(latencies, pauses),
        gap_s=middle / 1e9 if gaps.size else None,
        gaps_s=float(gaps.sum()) / 1e9 if gaps.size else None,
        pauses_s=float(gaps.sum() - np.maximum(longest - middle, 0).sum()) / 1e9 if gaps.size else None,
        reopened=samples.in_flight < connections < samples.measured,
        rests_s=_rested_s(samples),
        connections=int(connections),
        slowest=_slowest(latencies, pauses) if samples.in_flight == 1 else None,
    )


def _rested_s(samples: Samples) -> float:
    """Think time of all workers within the window: before the first requests, and after those that others followed.

    Nobody follows those whose rest would be over last, one for each worker.
    """
    if samples.rests is None or not samples.measured:
        return 0.0
    free = samples.received_ns + samples.rest_ns
    followed = np.argsort(free, kind="stable")[: -samples.in_flight]
    before = np.sort(samples.ready_ns)[: samples.in_flight] - samples.sent_ns[0]
    late = samples.sent_ns - samples.ready_ns
    return float(np.maximum(before, 0).sum() + samples.rest_ns[followed].sum() + late.sum()) / 1e9


def _slowest(latencies: Nanoseconds, pauses: Nanoseconds) -> Slowest | None:
    """Of one per cent of the requests; None where those are too few to have something typical."""
    count = int(latencies.size * _SLOWEST_SHARE)
    if count < _FEWEST_SLOWEST:
        return None
    longest = np.argpartition(latencies + pauses, -count)[-count:]
    return Slowest(
        count=count,
        call_s=float(np.median(latencies[longest])) / 1e9,
        excess_s=float(np.median(pauses[longest]) - np.median(pauses)) / 1e9,
    )


def pauses_of(samples: Samples) -> tuple[Nanoseconds, Nanoseconds]:
    """Each request's time and the pause after it, until the same worker's next.

    A kept connection belongs to one worker; requests that never overlap belong to one worker, too, if there is one. Where
    workers share connections, nobody knows whose a request was.
    """
    sent, received, connection = samples.sent_ns, samples.received_ns, samples.connection
    ready, free = samples.ready_ns, received + samples.rest_ns
    following: Nanoseconds = ready[1:] - free[:-1]
    if not following.size or (samples.in_flight == 1 and following.min() >= 0):
        within = np.diff(samples.turn) == 0
        return (received - sent)[:-1][within], following[within]
    if distinct(connection) < samples.in_flight:
        return following[:0], following[:0]
    order = np.argsort(connection, kind="stable")
    kept = (connection[order][1:] == connection[order][:-1]) & (np.diff(samples.turn[order]) == 0)
    calls: Nanoseconds = (received - sent)[order][:-1][kept]
    pauses: Nanoseconds = (ready[order][1:] - free[order][:-1])[kept]
    return calls, pauses


def cut_rests(samples: Samples) -> tuple[int, int]:
    """How many rests at least did not last as the seed gives them, and by how many nanoseconds the shortest was too short.

    Three views; the one that sees most counts: each worker's own requests; all together, as of n workers the k-th
    reply whose rest is over frees one, so that the send n places later cannot be before it (also where a connection
    was opened anew, or each request has its own); and how far apart workers begin, which constant rests never change.
    """
    _, of_each = pauses_of(samples)
    free = np.sort(samples.received_ns + samples.rest_ns)[: -samples.in_flight]
    views = (of_each, np.sort(samples.ready_ns)[samples.in_flight :] - free, _begun(samples))
    short = [view[view < 0] for view in views]
    return max(view.size for view in short), max((-int(view.min()) for view in short if view.size), default=0)


def _begun(samples: Samples) -> Nanoseconds:
    """By how much later than the seed gives the workers began after the first of them; empty where nobody knows."""
    rests, ready, workers = samples.rests, samples.ready_ns, samples.in_flight
    if rests is None or not ready.size:
        return ready[:0]
    wanted = np.sort(np.array([rests.first_ns(worker) for worker in range(workers)], dtype=np.int64))
    if rests.drawn:  # a short rest may bring one its second request before another has its first
        numbers, first = np.unique(samples.connection, return_index=True)
        if numbers.size != workers or numbers[0] < 0:
            return ready[:0]
        ready = ready[first]
    began = np.sort(ready)[:workers]
    later: Nanoseconds = began - began[0] - (wanted - wanted[0])[: began.size]
    return later


def _follows(latencies: Nanoseconds, pauses: Nanoseconds) -> float | None:
    """How the change of the pause goes with the change of the latency before it."""
    if latencies.size < _FEWEST_PAIRS:
        return None
    calls, gaps = np.diff(latencies), np.diff(pauses)
    low, high = np.quantile(calls, [0.25, 0.75])
    shorter, longer = calls <= low, calls >= high
    span = float(np.median(calls[longer]) - np.median(calls[shorter]))
    return float(np.median(gaps[longer]) - np.median(gaps[shorter])) / span if span > 0 else None
