"""latency modes: requests that wait for something known, some of them or all.

What requests wait for is known for a few times that are constants of Linux's TCP (include/net/tcp.h) or of clients:
TCP_DELACK_MIN (40 ms), TCP_RTO_MIN (200 ms), and curl's wait for `100 Continue` (1 s). A group that
waits so much longer than the quickest quarter holds one per cent and ten requests, and five times as many as lie on the way
to it, from half of the wait on; the wait is at least half as long as what the quick ones take.

Where all requests wait alike there is no quick one. The middle one is held, less the CPU time of both ends and what a
store took, against TCP's exchange of the same bodies, or ping: over a way of at most a tenth of the wait, as round trips
may be as long elsewhere. Of a service that counts no CPU time, the requester must have acknowledged each reply twice, though
it fits in one packet: its second piece waited for the first one's acknowledgement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, not_applicable, passes, warns, worst
from orchestrator.evidence import store_times
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import NS_PER_MS, Nanoseconds, quantile

NAME = "latency modes"
_ON_THE_WAY = 0.2
_LEAST_SHARE, _LEAST_COUNT = 0.01, 10
_PACKET_BYTES = 1_400
_SENT_EACH = 2.5  # packets: a request and two acknowledgements are three
_NARROW, _SHORT = 0.1, 0.1  # the middle half of a wait of all requests; the way there, as a share of the wait


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What a request waits for that takes between `least_ms` and `most_ms` longer than the others, on Linux."""

    name: str
    least_ms: float
    most_ms: float  # without the distance
    is_loss: bool = False


DELAYED = Cause(name="delayed", least_ms=38.0, most_ms=50.0)
LOST = Cause(name="lost", least_ms=195.0, most_ms=260.0, is_loss=True)
EXPECT = Cause(name="expect", least_ms=950.0, most_ms=1150.0)
_CAUSES = (DELAYED, LOST, EXPECT)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Requests of one trial that may have waited for one thing: how many, their share of all, and their median."""

    cause: Cause
    count: int
    share: float
    median_ns: float


@dataclass(frozen=True, kw_only=True)
class Waits:
    """One requester's trial: what a quick request and the middle one take, how wide the middle half is, and groups."""

    quick_ns: float
    middle_ns: float
    width: float  # interquartile range / median
    groups: tuple[Group, ...]


def observe(samples: Samples) -> Waits | None:
    """None without a reply."""
    return waits(samples.ordered_ns) if samples.ordered_ns.size and samples.ordered_ns[0] > 0 else None


def waits(ordered_ns: Nanoseconds) -> Waits:
    """What latencies, sorted and above zero, say of waiting."""
    quick, middle, slow = (quantile(ordered_ns, share) for share in (0.25, 0.5, 0.75))
    each = (_group(cause, ordered_ns, quick) for cause in _CAUSES if cause.least_ms * NS_PER_MS >= quick / 2)
    groups = tuple(group for group in each if group is not None)
    return Waits(quick_ns=quick, middle_ns=middle, width=(slow - quick) / middle, groups=groups)


def _group(cause: Cause, ordered_ns: Nanoseconds, quick_ns: float) -> Group | None:
    """The requests that took as much longer than quick ones, where they are a group."""
    least_ns, most_ns = (ms * NS_PER_MS for ms in (cause.least_ms, cause.most_ms))
    bounds = quick_ns + np.array([least_ns / 2, least_ns, most_ns + quick_ns])
    way, begin, end = np.searchsorted(ordered_ns, bounds).tolist()
    count, share = end - begin, (end - begin) / ordered_ns.size
    if count < _LEAST_COUNT or share < _LEAST_SHARE or begin - way > _ON_THE_WAY * count:
        return None
    return Group(cause=cause, count=count, share=share, median_ns=quantile(ordered_ns[begin:end], 0.5))


def judge(cell: CellEvidence) -> Finding | None:
    """The trial whose group waits longest, where at least half of the trials have one; a wait of all requests."""
    trials = list(cell.parts(NAME))
    if not trials:
        return None
    if cell.operation.mix:
        return not_applicable("mix")
    is_here = cell.placement.kind == "local"
    each = [(trial, part, seen, [*_possible(part, seen, is_here=is_here)]) for trial, part, seen in trials]
    grouped = [entry for entry in each if entry[3]]
    of_all = _of_all(cell, trials)
    if 2 * len(grouped) >= len(trials):
        return worst([of_all, *(_finding(*entry, len(grouped)) for entry in grouped)])
    evidence = {"trials": len(trials), "with_a_group": len(grouped), "causes": []}
    return of_all or passes("no-groups", evidence)


def _of_all(cell: CellEvidence, trials: Sequence[tuple[TrialEvidence, Part, Waits]]) -> Finding | None:
    """A known wait of most requests of most trials; None without one."""
    if cell.is_open_loop or cell.cell.kind == "codec":
        return None
    narrow = [seen for _, _, seen in trials if seen.width <= _NARROW]
    if 2 * len(narrow) <= len(trials):
        return None
    slow_ns = median(seen.middle_ns for seen in narrow) / cell.cell.calls
    echoes_ns = _floor_ns(cell, "tcp", cell.cell.id) or _floor_ns(cell, "ping")
    work = [ms for trial in cell.trials if (ms := _work_ms(cell, trial)) is not None]
    if not echoes_ns or not work:
        return None
    quick_ns, work_ns = median(echoes_ns), median(work) * NS_PER_MS / cell.cell.calls
    known = [cause for cause in causes_of(slow_ns - work_ns, quick_ns) if not cause.is_loss]
    names = [cause.name for cause in known if quick_ns <= _SHORT * cause.least_ms * NS_PER_MS]
    if not names:
        return None
    evidence = {"median_ms": slow_ns / NS_PER_MS, "against_ms": quick_ns / NS_PER_MS, "causes": names}
    return warns("all-wait", evidence, weight=sqrt(slow_ns / quick_ns))


def _floor_ns(cell: CellEvidence, kind: str, name: str | None = None) -> list[float]:
    medians = [reading.median_ns for trial in cell.trials for reading in trial.readings_of(kind, name)]
    return [median_ns for median_ns in medians if median_ns]


def _work_ms(cell: CellEvidence, trial: TrialEvidence) -> float | None:
    """The most that work of both ends may have added to a request; None where that is not known."""
    values = trial.summary.values if trial.summary else {}
    if not {"responder_cpu", "requester_cpu"} <= values.keys():
        return 0.0 if all(_comes_in_pieces(part) for part in trial.parts) else None
    store = store_times.of_trial(trial.record)
    cpu_ms = values["responder_cpu"] + values["requester_cpu"]  # seconds for a thousand
    return cell.cell.load.concurrency * cpu_ms + (store.handling if store else 0.0)


def _comes_in_pieces(part: Part) -> bool:
    """Whether replies that fit in one packet came in several that waited for each other: each was acknowledged alone."""
    wire, requests = part.done.wire, part.done.requests
    if wire is None or not requests:
        return False
    return wire.bytes_received <= _PACKET_BYTES * requests and wire.segments_sent >= _SENT_EACH * requests


def _possible(part: Part, seen: Waits, *, is_here: bool) -> Iterator[Group]:
    """The groups that the packets sent again allow: a lost one for at least every other request.

    Over a distance the responder's packets, which the requester does not count, may be lost as well.
    """
    again = None if part.done.wire is None else part.done.wire.retransmits
    for group in seen.groups:
        is_known = again is not None and (is_here or again == 0)
        if not group.cause.is_loss or not is_known or 2 * (again or 0) >= group.count:
            yield group


def _finding(trial: TrialEvidence, part: Part, seen: Waits, groups: Sequence[Group], trials: int) -> Finding:
    return warns(
        "groups",
        {
            "trial": trial.record.index,
            "trials_with_a_group": trials,
            "quick_ms": seen.quick_ns / NS_PER_MS,
            "medians_ms": [group.median_ns / NS_PER_MS for group in groups],
            "shares": [round(group.share, 4) for group in groups],
            "causes": [group.cause.name for group in groups],
            "retransmits": None if part.done.wire is None else part.done.wire.retransmits,
        },
        weight=sqrt(groups[-1].median_ns / seen.quick_ns),
        groups=[(group.share, group.median_ns) for group in groups],
        quick_ns=seen.quick_ns,
        avoidable=[group.cause.name for group in groups if not group.cause.is_loss],
    )


def causes_of(slow_ns: float, quick_ns: float) -> tuple[Cause, ...]:
    """Return what a request that took `slow_ns` may have waited for where others took `quick_ns`; empty if not known.

    Up to one round trip comes on top, which is no longer than `quick_ns`.
    """
    extra_ms = (slow_ns - quick_ns) / NS_PER_MS
    return tuple(c for c in _CAUSES if c.least_ms <= extra_ms <= c.most_ms + quick_ns / NS_PER_MS)


CHECK = Check(name=NAME, severity="note", kinds=CALLS | CODECS, observe=observe, judge=judge)
