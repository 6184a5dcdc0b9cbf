"""clocks: fine enough for what is measured, running forward, and the same clock all along.

Latencies are differences on the requester's own monotonic clock, so that clocks of two hosts never meet in a number that is
compared. Of streams deliveries are, on one host, where both stamps are of one clock; over a distance they are shown with a
bound on their error. An event received before it was sent is for the check `event stream`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from statistics import median

import numpy as np

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, fails, not_reported, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import quantile

_LOOKED_AT = 2_000
_WARN, _FAIL = 0.01, 0.1  # step of the clock, as a share of the median
_SLEW = 500e-6  # what NTP may adjust a running clock by
_STEP_NS = 1_000_000
_RATE, _MOST = 0.02, 0.5  # clocks that differ by so much, in more than so many trials of a cell, run at two rates
_FEWEST = 3  # trials: in fewer a step looks like a rate
_ANCHOR_NS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Stamps:
    """What the stamps themselves say of the clock. `quantum_ns`: all latencies looked at are multiples of it."""

    first_ns: int
    last_ns: int
    backwards: int
    quantum_ns: int
    median_ns: float


def observe(samples: Samples) -> Stamps | None:
    """None without a successful request."""
    calls = samples.call_ns
    if not calls.size:
        return None
    return Stamps(
        first_ns=int(samples.sent_ns[0]),
        last_ns=int(samples.received_ns.max()),
        backwards=int((calls < 0).sum()),
        quantum_ns=int(np.gcd.reduce(np.abs(calls[:_LOOKED_AT]))) if calls.size > 10 else 1,
        median_ns=quantile(samples.ordered_ns, 0.5),
    )


def judge(cell: CellEvidence) -> Iterator[Finding | None]:
    """Every requester's clock in every trial, and in all of them."""
    for trial, part, seen in cell.parts(NAME):
        yield _stamps(cell, trial, part, seen)
        yield _wall(trial, part)
    yield _rates(cell)


def _rates(cell: CellEvidence) -> Finding | None:
    """Both clocks between the anchors of every trial: a step is one trial's, a rate is that of most, by the same share."""
    shares = []
    for part in (part for trial in cell.trials for part in trial.parts):
        begin, end = part.done.anchor, part.done.anchor_end
        if not begin or not end:
            continue
        elapsed_ns = end.monotonic_ns - begin.monotonic_ns
        step_ns = end.wall_ns - begin.wall_ns - elapsed_ns
        is_step = elapsed_ns <= 0 or abs(step_ns) <= _STEP_NS
        shares.append(0.0 if is_step else step_ns / elapsed_ns)
    of_what = ("trial",) if cell.requesters == 1 else ("requester's record", "requesters' records")
    typical = median(shares) if shares else 0.0
    alike = [share for share in shares if abs(share) > _RATE and abs(share / typical - 1) < _MOST] if typical else []
    if len(shares) < _FEWEST or abs(typical) <= _RATE or len(alike) <= _MOST * len(shares):
        return None
    return fails(
        f"In {len(alike)} of {quantities.count(len(shares), *of_what)} the wall clock ran "
        f"{1 + typical:.3g} times as fast as the timestamp clock: one of the two does not count seconds.",
        "Check which clock the requester reads and how the host keeps time: latencies may be off by that factor.",
        {"wall_per_monotonic": 1 + typical, "of_trials": [round(1 + share, 4) for share in shares]},
        weight=abs(typical),
    )


def _stamps(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Stamps) -> Finding:
    step_ns = max(float(part.done.clock_resolution_ns or 1.0), float(seen.quantum_ns))
    evidence = {
        "trial": trial.record.index,
        "step_ns": step_ns,
        "median_ns": seen.median_ns,
        "backwards": seen.backwards,
    }
    if seen.backwards and cell.cell.kind != "stream":
        return fails(
            f"{quantities.count(seen.backwards, 'reply was', 'replies were')} received before the request was sent.",
            "Time requests with one monotonic clock (CLOCK_MONOTONIC), not with the wall clock.",
            evidence,
        )
    first, last = part.done.anchor, part.done.anchor_end
    begin_ns, end_ns = first.monotonic_ns if first else -inf, last.monotonic_ns if last else inf
    is_between = begin_ns - _ANCHOR_NS <= seen.first_ns <= seen.last_ns <= end_ns + _ANCHOR_NS
    if first and last and not is_between:
        return fails(
            "Timestamps lie outside the clock anchors that the requester reported: they are another clock's.",
            "Take every timestamp from the monotonic clock; a CPU-time clock, for example, stops while waiting.",
            {**evidence, "first_ns": seen.first_ns, "last_ns": seen.last_ns, "anchors_ns": [begin_ns, end_ns]},
        )
    share = step_ns / seen.median_ns if seen.median_ns > 0 else 1.0
    measured = f"The clock advances in steps of {quantities.ns(step_ns)}, {quantities.percent(share, 4)} of the median"
    if share > _WARN:
        return Finding(
            "fail" if share > _FAIL else "warn",
            f"{measured}.",
            "Use a clock with nanosecond resolution, or measure operations that take longer.",
            evidence,
        )
    shown = "no one-way number is shown"
    if cell.stream is not None and cell.stream.timed == "delivery":
        shown = "deliveries are of one host's clock"
    elif cell.stream is not None and cell.stream.delivery_bound is not None:
        shown = "deliveries are of two, with a bound on their error"
    return passes(f"{measured}; {shown}.", evidence)


def _wall(trial: TrialEvidence, part: Part) -> Finding:
    begin, end = part.done.anchor, part.done.anchor_end
    if not begin or not end:
        return not_reported("its clock anchors", "anchor_end", {"trial": trial.record.index})
    elapsed_ns = end.monotonic_ns - begin.monotonic_ns
    step_ns = end.wall_ns - begin.wall_ns - elapsed_ns
    evidence = {"trial": trial.record.index, "wall_step_ns": step_ns}
    if abs(step_ns) > _STEP_NS + _SLEW * elapsed_ns:
        return warns(
            f"The wall clock was changed by {quantities.ns(step_ns)} during {trial.called}.",
            "Distrust this trial's times of day only: latencies use the monotonic clock and are unaffected.",
            evidence,
        )
    return passes("The wall clock was not changed during the trials.", evidence)


NAME = "clocks"
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS | STREAMS, observe=observe, judge=judge)
