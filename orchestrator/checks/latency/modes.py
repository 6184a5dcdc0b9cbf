"""latency modes: within a trial, requests of two kinds, one of which waits for something that the other does not.

A histogram of the logs in steps of 5 %, three steps taken together, is split where a valley holds less than a fifth of the
lower of the peaks on both sides, and less by three standard deviations of a Poisson count. Modes lie at least half as far
apart again as the lower one is long, and hold one per cent and ten requests. What a mode waits for is known for a few
times that are constants of Linux's TCP (include/net/tcp.h): TCP_DELACK_MIN (40 ms), TCP_RTO_MIN (200 ms) and
TCP_TIMEOUT_INIT (1 s). Modes of other lengths, as a scheduler's time slices make, are shown and no warning: nothing follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, Check, Finding, worst
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import NS_PER_MS, Nanoseconds, quantile

_STEP = 0.05
_APART = log(1.5)
_VALLEY = 0.2
_DEVIATIONS = 3.0
_LEAST_SHARE, _LEAST_COUNT = 0.01, 10
_SAME_VALUE = 0.002  # a mode narrower than this is one value, a limit say, and no wait

# What a request that waits so many milliseconds longer than the others has waited for; upper bounds without the distance.
_CAUSES = (
    (
        38.0,
        50.0,
        "a delayed acknowledgement (40 ms on Linux): a message sent in several writes, with Nagle's algorithm on",
    ),
    (195.0, 260.0, "a retransmission time-out (200 ms and the round trip on Linux): a packet was lost"),
    (950.0, 1150.0, "a handshake packet that was lost (sent again after 1 s)"),
)


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


def has_slow_mode(modes: tuple[Mode, ...]) -> bool:
    """Whether the slowest requests are a group of their own that has a width, as waits have and limits have not."""
    return len(modes) > 1 and modes[-1].width > _SAME_VALUE


def observe(samples: Samples) -> tuple[Mode, ...]:
    """The modes of one requester's trial."""
    return find_modes(samples.ordered_ns)


def judge(cell: CellEvidence) -> Finding | None:
    """The trial whose modes lie farthest apart, where at least half of the trials have several."""
    found = [(trial, part, modes) for trial, part, modes in cell.parts(NAME) if modes]
    if not found:
        return None
    if cell.operation.mix:
        return Finding(
            verdict="not applicable",
            explanation="A mix has requests of several operations, each with a latency of its own: that they form groups"
            " says nothing.",
        )
    is_here = cell.placement.kind == "local"
    several = [entry for entry in found if len(entry[2]) > 1]
    if 2 * len(several) >= len(found):
        return worst(_finding(*entry, len(several), is_here) for entry in several)
    measured = f"; in {len(several)} of {len(found)} trials there are more" if several else ""
    return Finding(
        verdict="pass",
        evidence={"trials": len(found), "with_several": len(several)},
        explanation=f"Latencies within a trial form one group{measured}.",
    )


def _finding(trial: TrialEvidence, part: Part, modes: tuple[Mode, ...], trials: int, is_here: bool) -> Finding:
    retransmits = None if part.done.wire is None else part.done.wire.retransmits
    listed = [f"{quantities.ns(mode.median_ns)} ({quantities.percent(mode.share)})" for mode in modes]
    causes = list(dict.fromkeys(c for mode in modes[1:] for c in _possible(mode, modes[0], retransmits, is_here)))
    clues = [f"Possible cause: {'; or '.join(causes)}"] if causes else []
    clues += [f"TCP sent {quantities.count(retransmits, 'packet')} again"] if retransmits else []
    because = f" {'; '.join(clues)}." if clues else ""
    return Finding(
        verdict="warn" if causes else "pass",
        evidence={
            "trial": trial.record.index,
            "trials_with_several": trials,
            "medians_ms": [mode.median_ns / NS_PER_MS for mode in modes],
            "shares": [round(mode.share, 4) for mode in modes],
            "causes": causes,
            "retransmits": retransmits,
        },
        weight=sqrt(modes[-1].median_ns / modes[0].median_ns),
        explanation=f"Latency has {len(modes)} modes: {', '.join(listed)}.{because}",
        action="Read the modes and their shares, not mean and SD; a percentile near such a share varies from run to run."
        + " Against Nagle's algorithm, set TCP_NODELAY or write each message at once." * _is_delayed(causes)
        if causes
        else "Nothing to do.",
    )


def _possible(mode: Mode, fastest: Mode, retransmits: int | None, is_here: bool) -> Iterator[str]:
    """The causes that the mode's duration allows, and the packets sent again: a lost one for at least every other request.

    Over a distance the responder's packets, which the requester does not count, may be lost as well.
    """
    for text in causes_of(mode.median_ns, fastest.median_ns):
        known = retransmits is not None and (is_here or retransmits == 0)
        if "lost" not in text or not known or 2 * (retransmits or 0) >= mode.count:
            yield text


def _is_delayed(causes: Sequence[str]) -> bool:
    return any("delayed" in cause for cause in causes)


def causes_of(slow_ns: float, quick_ns: float) -> tuple[str, ...]:
    """What a request that took `slow_ns` may have waited for where others took `quick_ns`: all that fit, none if not known.

    Up to one round trip comes on top, which is no longer than `quick_ns`.
    """
    extra_ms = (slow_ns - quick_ns) / NS_PER_MS
    return tuple(text for least, most, text in _CAUSES if least <= extra_ms <= most + quick_ns / NS_PER_MS)


NAME = "latency modes"
CHECK = Check(name=NAME, severity="note", kinds=CALLS | CODECS, observe=observe, judge=judge)
