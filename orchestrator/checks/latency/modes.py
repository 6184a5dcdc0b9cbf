"""latency modes: requests that wait for something known, some of them or all.

A histogram of the logs in steps of 5 %, three steps taken together, is split where a valley holds less than a fifth of the
lower of the peaks on both sides, and less by three standard deviations of a Poisson count. Modes lie at least half as far
apart again as the lower one is long, and hold one per cent and ten requests. What a mode waits for is known for a few
times that are constants of Linux's TCP (include/net/tcp.h) or of clients: TCP_DELACK_MIN (40 ms), TCP_RTO_MIN (200 ms),
TCP_TIMEOUT_INIT (1 s), and curl's wait for `100 Continue` (1 s). Modes of other lengths, as a scheduler's time slices
make, are shown and no warning: nothing follows.

Where all requests wait alike there is one mode. It is held, less the CPU time of both ends and what a store took, against
TCP's exchange of the same bodies: over a way of at most a tenth of the wait, as round trips may be as long elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from statistics import median

import numpy as np
import numpy.typing as npt

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, Check, Finding, not_applicable, passes, warns, worst
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.questions.stores import times as store_times
from orchestrator.statistics.quantiles import NS_PER_MS, Nanoseconds, quantile

_STEP = 0.05
_APART = log(1.5)
_VALLEY = 0.2
_DEVIATIONS = 3.0
_LEAST_SHARE, _LEAST_COUNT = 0.01, 10
_NARROW, _SHORT = 0.1, 0.1  # width of a mode that is a wait of all requests; the way there, as a share of the wait


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What a request waits for that takes between `least_ms` and `most_ms` longer than the others, on Linux."""

    least_ms: float
    most_ms: float  # without the distance
    text: str
    is_loss: bool = False


DELAYED = Cause(
    least_ms=38.0,
    most_ms=50.0,
    text="a delayed acknowledgement (40 ms on Linux): a message sent in several writes, with Nagle's algorithm on",
)
LOST = Cause(
    least_ms=195.0,
    most_ms=260.0,
    text="a retransmission time-out (200 ms and the round trip on Linux): a packet was lost",
    is_loss=True,
)
HANDSHAKE = Cause(
    least_ms=950.0, most_ms=1150.0, text="a handshake packet that was lost (sent again after 1 s)", is_loss=True
)
EXPECT = Cause(
    least_ms=950.0, most_ms=1150.0, text="`Expect: 100-continue` that the responder does not answer (clients wait 1 s)"
)
_CAUSES = (DELAYED, LOST, HANDSHAKE, EXPECT)


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One group of latencies: its median, its share of the requests, and its width (interquartile range / median)."""

    median_ns: float
    share: float
    width: float
    count: int = 0


def find_modes(ordered_ns: Nanoseconds) -> tuple[Mode, ...]:
    """The groups in latencies that are sorted already, fastest first; one group unless there is a clear valley."""
    values = ordered_ns[ordered_ns > 0]
    if not values.size:
        return ()
    logs = np.log(values)
    bins = np.arange(logs[0] - _STEP, logs[-1] + 2 * _STEP, _STEP)
    counts = np.histogram(logs, bins)[0]
    padded = np.pad(counts, 1)
    cuts = sorted(_cuts(padded[:-2] + padded[1:-1] + padded[2:], counts, 0, values.size))
    edges = [0, *np.searchsorted(logs, [bins[cut] + _STEP / 2 for cut in cuts]).tolist(), values.size]
    return tuple(
        Mode(
            median_ns=quantile(group, 0.5),
            share=group.size / values.size,
            count=int(group.size),
            width=(quantile(group, 0.75) - quantile(group, 0.25)) / quantile(group, 0.5),
        )
        for group in (values[a:b] for a, b in pairwise(edges))
    )


def _cuts(smooth: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], offset: int, total: int) -> list[int]:
    """Where to split the histogram: at its clearest valley, then likewise on both sides."""
    if smooth.size < 3:
        return []
    left, right = np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1]
    lower = np.minimum(left, right)
    clear = (lower - smooth) / np.sqrt(np.maximum(lower + smooth, 1))
    mass = np.cumsum(counts)
    least = max(_LEAST_SHARE * total, _LEAST_COUNT)
    allowed = (smooth <= _VALLEY * lower) & (clear > _DEVIATIONS) & (mass >= least) & (mass[-1] - mass >= least)
    if not allowed.any():
        return []
    best = np.flatnonzero(allowed & (clear == clear[allowed].max()))
    cut = int(best[best.size // 2])
    apart = (int(smooth[cut:].argmax()) + cut - int(smooth[:cut].argmax())) * _STEP
    if apart < _APART:
        return []
    return [
        *_cuts(smooth[:cut], counts[:cut], offset, total),
        offset + cut,
        *_cuts(smooth[cut:], counts[cut:], offset + cut, total),
    ]


def observe(samples: Samples) -> tuple[Mode, ...]:
    """The modes of one requester's trial."""
    return find_modes(samples.ordered_ns)


def judge(cell: CellEvidence) -> Finding | None:
    """The trial whose modes lie farthest apart, where at least half of the trials have several; a wait of all requests."""
    trials = [(trial, part, modes) for trial, part, modes in cell.parts(NAME) if modes]
    if not trials:
        return None
    if cell.operation.mix:
        own = "A mix has requests of several operations, each with a latency of its own"
        return not_applicable(f"{own}: that they form groups says nothing.")
    is_here = cell.placement.kind == "local"
    several = [entry for entry in trials if len(entry[2]) > 1]
    of_all = _of_all(cell, trials)
    if 2 * len(several) >= len(trials):
        return worst([of_all, *(_finding(*entry, len(several), is_here) for entry in several)])
    measured = f"; in {len(several)} of {len(trials)} trials there are more" if several else ""
    evidence = {"trials": len(trials), "with_several": len(several)}
    return of_all or passes(f"Latencies within a trial form one group{measured}.", evidence)


def _of_all(cell: CellEvidence, trials: Sequence[tuple[TrialEvidence, Part, tuple[Mode, ...]]]) -> Finding | None:
    """A known wait of most requests of most trials; None without one."""
    if cell.is_open_loop or cell.cell.kind == "codec":
        return None
    main = [max(modes, key=lambda mode: mode.share) for _, _, modes in trials]
    narrow = [mode for mode in main if mode.share > 0.5 and mode.width <= _NARROW]
    if 2 * len(narrow) <= len(main):
        return None
    slow_ns = median(mode.median_ns for mode in narrow) / cell.cell.calls
    echoes = [reading.median_ns for trial in cell.trials for reading in trial.readings_of("tcp", cell.cell.id)]
    echoes_ns = [ns for ns in echoes if ns]
    work = [ms for trial in cell.trials if (ms := _work_ms(cell, trial)) is not None]
    if not echoes_ns or not work:
        return None
    quick_ns, work_ns = median(echoes_ns), median(work) * NS_PER_MS / cell.cell.calls
    known = [cause for cause in causes_of(slow_ns - work_ns, quick_ns) if not cause.is_loss]
    causes = [cause for cause in known if quick_ns <= _SHORT * cause.least_ms * NS_PER_MS]
    if not causes:
        return None
    texts = [cause.text for cause in causes]
    return warns(
        f"Requests take {quantities.ns(slow_ns)}, against {quantities.ns(quick_ns)} for TCP's exchange of the same bodies."
        f" Possible cause: {'; or '.join(texts)}.",
        _action(causes),
        {"median_ms": slow_ns / NS_PER_MS, "against_ms": quick_ns / NS_PER_MS, "causes": texts},
        weight=sqrt(slow_ns / quick_ns),
    )


def _work_ms(cell: CellEvidence, trial: TrialEvidence) -> float | None:
    """The most that work of both ends may have added to a request; None where an end counts no CPU time."""
    values = trial.summary.values if trial.summary else {}
    if not {"responder_cpu", "requester_cpu"} <= values.keys():
        return None
    store = store_times.of_trial(trial.record)
    cpu_ms = values["responder_cpu"] + values["requester_cpu"]  # seconds for a thousand
    return cell.cell.load.concurrency * cpu_ms + (store.handling if store else 0.0)


def _finding(trial: TrialEvidence, part: Part, modes: tuple[Mode, ...], trials: int, is_here: bool) -> Finding:
    retransmits = None if part.done.wire is None else part.done.wire.retransmits
    listed = [f"{quantities.ns(mode.median_ns)} ({quantities.percent(mode.share)})" for mode in modes]
    causes = list(dict.fromkeys(c for mode in modes[1:] for c in _possible(mode, modes[0], retransmits, is_here)))
    clues = [f"Possible cause: {'; or '.join(cause.text for cause in causes)}"] if causes else []
    clues += [f"TCP sent {quantities.count(retransmits, 'packet')} again"] if retransmits else []
    because = f" {'; '.join(clues)}." if clues else ""
    return Finding(
        "warn" if causes else "pass",
        f"Latency has {len(modes)} modes: {', '.join(listed)}.{because}",
        "Read the modes and their shares, not mean and SD; a percentile near such a share varies from run to run."
        f" {_action(causes)}".rstrip()
        if causes
        else "Nothing to do.",
        {
            "trial": trial.record.index,
            "trials_with_several": trials,
            "medians_ms": [mode.median_ns / NS_PER_MS for mode in modes],
            "shares": [round(mode.share, 4) for mode in modes],
            "causes": [cause.text for cause in causes],
            "retransmits": retransmits,
        },
        weight=sqrt(modes[-1].median_ns / modes[0].median_ns),
    )


def _action(causes: Sequence[Cause]) -> str:
    actions = {
        DELAYED: "Against Nagle's algorithm, set TCP_NODELAY or write each message at once.",
        EXPECT: "Send no `Expect` header, or have the responder answer it.",
    }
    return " ".join(text for cause, text in actions.items() if cause in causes)


def _possible(mode: Mode, fastest: Mode, retransmits: int | None, is_here: bool) -> Iterator[Cause]:
    """The causes that the mode's duration allows, and the packets sent again: a lost one for at least every other request.

    Over a distance the responder's packets, which the requester does not count, may be lost as well.
    """
    for cause in causes_of(mode.median_ns, fastest.median_ns):
        known = retransmits is not None and (is_here or retransmits == 0)
        if not cause.is_loss or not known or 2 * (retransmits or 0) >= mode.count:
            yield cause


def causes_of(slow_ns: float, quick_ns: float) -> tuple[Cause, ...]:
    """Return what a request that took `slow_ns` may have waited for where others took `quick_ns`; empty if not known.

    Up to one round trip comes on top, which is no longer than `quick_ns`.
    """
    extra_ms = (slow_ns - quick_ns) / NS_PER_MS
    return tuple(c for c in _CAUSES if c.least_ms <= extra_ms <= c.most_ms + quick_ns / NS_PER_MS)


NAME = "latency modes"
CHECK = Check(name=NAME, severity="note", kinds=CALLS | CODECS, observe=observe, judge=judge)
