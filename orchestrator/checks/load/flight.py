"""Little's law: the time of the requests under way adds up. Each requester is held against its own share of the load.

In a closed loop concurrency x window = sum of latencies + rests + pauses (Little 1961; with think time the interactive
response time law), and pauses are the requester's own work: no more than its CPU time, once for each worker. A busy machine
can hold up the requester between two requests as well, but not between most of them: the typical pause counts.

A clock that stops early leaves the rest of the latency in the pause after it: what the requester did not make itself, as it
says how long it was busy between requests (`paused_s`). At a share f pauses follow latencies by (1 - f) / f, while an honest
pause does not know how long the reply took. Changes from one request to the next are compared, by medians of the quarters
with the largest and the smallest change.

Whose a request was is not known where several are in flight and each has a connection of its own. Then the k-th reply is
taken to free a worker for the send n places after the k-th; the sum of these pauses is that of the workers'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, fails, passes, point, warns
from orchestrator.evidence.host_noise import noises
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import Nanoseconds, distinct

LITTLE = "Little's law"
_FOLLOWS = 0.08  # honest clients stay below 0.05, a clock that stops at nine tenths gives 0.11
_BUSY_MACHINE = 3.0  # the requester's work may take so many times its CPU time on a machine that is busy otherwise
# Of a request, what no pause accounts for: more than both. Honest clients on a busy machine came to 14 us and 1.8 %.
_OF_ALL_S, _OF_ALL_SHARE = 10e-6, 0.03
_OF_ONE_S, _OF_ONE_SHARE = 15e-6, 0.05
_FEWEST_PAIRS = 100
_STALLS = 3


# ---- how workers spent their time, as their rows tell it: requests, rests, and the pauses between


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
    )


def _rested_s(samples: Samples) -> float:
    """Think time of all workers within the window: before the first requests, and after those that others followed.

    Nobody follows those whose rest would be over last, one for each worker.
    """
    if samples.rests is None or not samples.measured:
        return 0.0
    followed = np.argsort(samples.received_ns + samples.rest_ns, kind="stable")[: -samples.in_flight]
    before = np.sort(samples.ready_ns)[: samples.in_flight] - samples.sent_ns[0]
    late = samples.sent_ns - samples.ready_ns
    return float(np.maximum(before, 0).sum() + samples.rest_ns[followed].sum() + late.sum()) / 1e9


def pauses_of(samples: Samples) -> tuple[Nanoseconds, Nanoseconds]:
    """Each request's time and the pause after it, until the same worker's next.

    A kept connection belongs to one worker; requests that never overlap belong to one worker, too, if there is one. Where
    workers share connections, nobody knows whose a request was.
    """
    connection, latencies = samples.connection, samples.received_ns - samples.sent_ns
    ready, free = samples.ready_ns, samples.received_ns + samples.rest_ns
    following: Nanoseconds = ready[1:] - free[:-1]
    if not following.size or (samples.in_flight == 1 and following.min() >= 0):
        within = np.diff(samples.turn) == 0
        return latencies[:-1][within], following[within]
    if distinct(connection) < samples.in_flight:
        return following[:0], following[:0]
    order = np.argsort(connection, kind="stable")
    kept = (connection[order][1:] == connection[order][:-1]) & (np.diff(samples.turn[order]) == 0)
    pauses: Nanoseconds = (ready[order][1:] - free[order][:-1])[kept]
    return latencies[order][:-1][kept], pauses


def _follows(latencies: Nanoseconds, pauses: Nanoseconds) -> float | None:
    """How the change of the pause goes with the change of the latency before it."""
    if latencies.size < _FEWEST_PAIRS:
        return None
    calls, gaps = np.diff(latencies), np.diff(pauses)
    low, high = np.quantile(calls, [0.25, 0.75])
    shorter, longer = calls <= low, calls >= high
    span = float(np.median(calls[longer]) - np.median(calls[shorter]))
    return float(np.median(gaps[longer]) - np.median(gaps[shorter])) / span if span > 0 else None


# ---- whether that adds up


def judge(cell: CellEvidence) -> Iterator[Finding | None]:
    """The trial farthest from its concurrency, and what a clock left out."""
    if cell.is_open_loop:
        yield cannot_tell("open-loop")
        return
    yield from sorted(
        (_little(*part) for part in cell.parts(LITTLE)), key=lambda f: -abs(1 - f.evidence.get("ratio", 1))
    )
    follows = [seen.follows for _, _, seen in cell.parts(LITTLE) if seen.follows is not None]
    if follows and (typical := median(follows)) > _FOLLOWS and not _is_own_work(cell, typical):
        yield _cut_short(follows, typical)
    yield from _constant_cut(cell)


def _constant_cut(cell: CellEvidence) -> Iterator[Finding]:
    """Pauses that the requester did not make itself, in the sum over a cell's trials and in each: the end of each wait.

    It says how long it was busy between requests (`paused_s`); what a few instructions take beyond that is microseconds.
    """
    pauses: list[tuple[TrialEvidence, Busy, float, float]] = []
    for trial, part, seen in cell.parts(LITTLE):
        unknown_s = _unknown_s(part, seen, part.load.concurrency)
        if unknown_s is None:
            return
        typically_s = _typical_s(seen) * seen.requests - (part.done.paused_s or 0.0) * part.load.concurrency
        pauses.append((trial, seen, unknown_s, min(unknown_s, typically_s)))
    calls, requests = sum(seen.call_s for _, seen, *_ in pauses), sum(seen.requests for _, seen, *_ in pauses)
    if not requests:
        return
    of_all = sum(unknown_s for _, _, unknown_s, _ in pauses) / requests
    of_typical = sum(typically_s for *_, typically_s in pauses) / requests
    limit = max(_OF_ALL_S, _OF_ALL_SHARE * calls / requests)
    if of_all > limit:
        trials = {id(trial): trial for trial, *_ in pauses}.values()
        held_up = sum(_held_up_s(cell, trial) for trial in trials) / requests
        beyond = sum(
            s > seen.requests * max(_OF_ALL_S, _OF_ALL_SHARE * seen.call_s / seen.requests) for _, seen, s, _ in pauses
        )
        is_noise = of_typical <= limit and (of_all - of_typical <= held_up or 2 * beyond <= len(pauses))
        yield _stops_early(of_all, calls / requests, {"trials": len(pauses)}, is_noise=is_noise)
    for trial, seen, unknown_s, typically_s in pauses:
        each, latency_s = unknown_s / seen.requests, seen.call_s / seen.requests
        limit = max(_OF_ONE_S, _OF_ONE_SHARE * latency_s)
        if each > limit:
            is_noise = typically_s / seen.requests <= limit  # of a single trial, the middle pause says whose they are
            yield _stops_early(each, latency_s, {"trial": trial.record.index}, is_noise=is_noise)


def _typical_s(seen: Busy) -> float:
    """The middle pause, of each worker's own where it is known whose a request was."""
    return (seen.gap_s if seen.pause_s is None else seen.pause_s) or 0.0


def _held_up_s(cell: CellEvidence, trial: TrialEvidence) -> float:
    """How long a noisy host kept processes from running in a trial, by its own counters: others ran, or nobody could."""
    return max((seen.held_up * seen.elapsed_s for seen in noises(cell, trial) if seen.is_loud), default=0.0)


def _unknown_s(part: Part, seen: Busy, concurrency: int) -> float | None:
    """All pauses of a requester's trial less what it did in them; None where it does not say, or made too few requests.

    The three longest are left out: a machine that stands still for a moment does so between two requests, too. Where
    several workers wait for one another, or connections were opened again between requests, what is typical of a pause
    counts if that is less.
    """
    if part.done.paused_s is None or seen.pauses_s is None or not seen.requests:
        return None
    is_whole = concurrency == 1 and not seen.reopened
    shown_s = seen.pauses_s if is_whole else min(seen.pauses_s, _typical_s(seen) * seen.requests)
    return float(shown_s - part.done.paused_s * concurrency)  # said of one worker, on average


def _stops_early(unknown_s: float, latency_s: float, evidence: dict[str, Any], *, is_noise: bool) -> Finding:
    """`is_noise`: the middle pause is the requester's own, and the long ones are of few trials or of a busy host."""
    evidence = {**evidence, "unknown_pause_ms": unknown_s * 1000, "latency_ms": latency_s * 1000}
    if is_noise:
        return warns("held-up", evidence, weight=unknown_s)
    return fails("stops-early", evidence, weight=unknown_s, latency_s=latency_s)


def _is_own_work(cell: CellEvidence, typical: float) -> bool:
    """Whether the requester itself accounts for its pauses: a slow machine makes them grow together with latencies.

    A clock that stops early leaves a share of the latency in the pause that nobody accounts for.
    """
    unknown = []
    for _, part, seen in cell.parts(LITTLE):
        if part.done.paused_s is None or seen.pause_s is None or seen.gaps_s is None or not seen.call_s:
            return False
        own_s = part.done.paused_s * part.load.concurrency
        unknown.append((max(seen.gaps_s, seen.pause_s * seen.requests) - own_s) / seen.call_s)
    return bool(unknown) and median(unknown) < typical / 2


def _cut_short(follows: list[float], typical: float) -> Finding:
    """Of all trials: one in which pauses follow latencies may be chance."""
    share = 1 / (1 + typical)
    evidence = {"pause_per_latency": round(typical, 4), "of_trials": [round(f, 4) for f in follows], "stops_at": share}
    return fails("follows-latency", evidence, weight=typical, typical=typical)


def _little(trial: TrialEvidence, part: Part, seen: Busy) -> Finding:
    concurrency, requests = part.load.concurrency, seen.requests
    evidence: dict[str, Any] = {"trial": trial.record.index, "concurrency": concurrency, "requests": requests}
    if seen.requests < 10 * concurrency or seen.window_s <= 0:
        return cannot_tell("too-few", evidence)
    ratio = (seen.call_s + seen.rests_s) / (seen.window_s * concurrency)
    missing_s = seen.window_s * concurrency - seen.call_s - seen.rests_s
    cpu_s = part.done.cpu_s
    evidence |= {"ratio": round(ratio, 4), "missing_s": missing_s, "requester_cpu_s": cpu_s, "window_s": seen.window_s}
    evidence["typical_pause_ms"] = None if seen.pause_s is None else seen.pause_s * 1000
    if seen.rests_s:
        evidence["rests_s"] = seen.rests_s
    measured = point("workers" if seen.rests_s else "in-flight", in_flight=ratio * concurrency)
    # Whose rest was the last one is not known: with few requests that is a share of all.
    if ratio > 1.02 + (2 * concurrency / seen.requests if seen.rests_s else 0):
        return fails((measured, point("more-than-there-was")), evidence)
    unknown_s = missing_s - (part.done.paused_s or 0.0) * concurrency
    if cpu_s is not None and _did_not_count(seen, ratio, unknown_s, cpu_s, concurrency):
        return fails((measured, point("waits-in-no-latency", unknown_s=unknown_s)), evidence)
    return passes((measured, point("own-work")), evidence)


def _did_not_count(seen: Busy, ratio: float, missing_s: float, cpu_s: float, concurrency: int) -> bool:
    """Whether the requester must have waited for replies outside of their latencies, and outside of its own pauses."""
    own_s = cpu_s * concurrency
    if seen.pause_s is None:
        return ratio < 0.25 and missing_s > 1.05 * own_s
    waited_s = min(missing_s, seen.pause_s * seen.requests)
    return waited_s > (1.05 if ratio < 0.5 else _BUSY_MACHINE) * own_s and ratio < 0.95


CHECK = Check(name=LITTLE, severity="fatal", kinds=CALLS, observe=busy, judge=judge)
