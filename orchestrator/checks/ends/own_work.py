"""requester's own work: how much of the time the requester spent on work that delays requests but belongs to none.

With several in flight, what it verifies and records is in the latencies of the others, and lowers throughput by up to
that share. With one in flight it lies between a reply and the next request, where no clock runs: a client that decodes
after its clock has stopped looks faster than one that decodes in time. So each stack's pauses are compared with the
shortest among stacks of its setting whose requester is in the same language; the limits below are shares of a request and
its pause. Without others, the share of the pause itself is judged. Closing a connection per request is in these pauses
as well, and clients differ in it honestly (a WebSocket's closing handshake: 20 %): there the limits are higher. Python's
requester verifies when the phase is over: that its clients decode in time, `tests/services/test_fields.py` says.

A codec alone is held against the others of its setting in the same way; one that declares that it leaves
fields unread is named, and does not fail.

Limits: honest clients that keep their connections came to 12 µs and less than 1 % beyond the least, with seven stacks on a
busy machine. The middle pause of a trial is judged, as a machine may stand still in some, and a failure takes most of three
blocks or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, is_of_the_stack, not_reported, passes
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, Samples
from orchestrator.experiment.plan.parts import language_of_requester
from orchestrator.findings.check_result import CheckVerdict

NAME = "requester's own work"
_MOST_UNNOTICED = 0.05
_MOST = 0.2
_LIMITS = {"reuse": (0.05, 0.3), "per-request": (0.25, 0.5)}  # out of line, and wrong
_LEAST_EXCESS_S = 10e-6
_MUCH_ALONE, _MOST_ALONE, _LEAST_ALONE_S = 0.2, 0.5, 20e-6
_FEWEST = 20


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """Of a request in the middle, in seconds: the pause until the next, and both together."""

    pause_s: float
    cycle_s: float


def observe(samples: Samples) -> Pauses | None:
    """None where several are in flight, in an open loop, or with too few requests."""
    if samples.in_flight > 1 or samples.is_open_loop or samples.measured < _FEWEST:
        return None
    pauses = samples.ready_ns[1:] - (samples.received_ns + samples.rest_ns)[:-1]
    if pauses.min() < 0:
        return None  # several were in flight: the check of that name fails
    pause_s, call_s = (float(np.median(each)) / 1e9 for each in (pauses, samples.received_ns - samples.sent_ns))
    return Pauses(pause_s=pause_s, cycle_s=pause_s + call_s) if pause_s + call_s > 0 else None


def judge(cell: CellEvidence, run: RunEvidence) -> Iterator[Finding]:
    """The trial with the largest share; with one in flight the cell beside the others of its setting."""
    parts = [(trial, part) for trial in cell.trials for part in trial.parts]
    if cell.cell.kind == "codec":
        yield _alone_in_flight(cell, run)
        return
    if not cell.is_open_loop and 1 in (cell.cell.load.concurrency, *(part.load.concurrency for _, part in parts)):
        yield _alone_in_flight(cell, run)
    if cell.cell.load.concurrency == 1:
        return
    is_wrong = is_of_the_stack(_entering(cell), _MOST, [_entering(other) for other in run.beside(cell)])
    for trial, part in parts:
        if part.load.concurrency == 1:  # one of several processes: its work delays its own next request alone
            continue
        entering_s, measured_s = part.done.entering_s, part.done.measured_s
        if entering_s is None or not measured_s:
            yield not_reported("entering_s", {"trial": trial.record.index})
        else:
            share = entering_s / measured_s
            kind = "entering" if share <= _MOST_UNNOTICED else "much-entering"
            verdict: CheckVerdict = "pass" if kind == "entering" else "fail" if share > _MOST and is_wrong else "warn"
            yield Finding.of(verdict, kind, {"trial": trial.record.index, "share": share}, weight=share)


def _entering(cell: CellEvidence) -> dict[int, float]:
    """By block the share of the time that a requester with several in flight verified and recorded."""
    shares = [
        (trial.record.block, (part.done.entering_s or 0.0) / part.done.measured_s)
        for trial in cell.trials
        for part in trial.parts
        if part.load.concurrency > 1 and part.done.measured_s
    ]
    return {block: max(share for at, share in shares if at == block) for block, _ in shares}


def _alone_in_flight(cell: CellEvidence, run: RunEvidence) -> Finding:
    mine = _typical(cell)
    if mine is None:
        return cannot_tell("too-few", fewest=_FEWEST)
    language = language_of_requester(run.plan.resolved, cell.stack.id)  # as far as that is known
    alike = [c for c in run.beside(cell) if language_of_requester(run.plan.resolved, c.stack.id) == language]
    beside = [(other, pauses) for other in alike if (pauses := _typical(other)) is not None]
    least_cell, least = min(beside, key=lambda entry: entry[1].pause_s, default=(cell, mine))
    excess_s = mine.pause_s - least.pause_s
    share, excess = mine.pause_s / mine.cycle_s, excess_s / mine.cycle_s
    evidence = {
        "pause_us": mine.pause_s * 1e6,
        "share": share,
        "least_pause_us": least.pause_s * 1e6,
        "share_beyond_least": excess,
        "compared_with": len(beside),
    }
    out_of_line, wrong = _LIMITS[cell.cell.connection]
    is_out = excess > out_of_line and excess_s > _LEAST_EXCESS_S
    is_much = share > max(_MUCH_ALONE, out_of_line) and mine.pause_s > _LEAST_ALONE_S and cell.cell.kind != "codec"
    if not is_out and not is_much:
        return passes("pause", evidence, weight=excess)
    omitted: dict[
        str, str
    ] = {}  # which reading a codec alone says that it leaves out; of what calls a network hides most of it
    if is_out and cell.cell.kind == "codec":
        declared = run.plan.resolved.get(cell.stack.id, {}).get("own_work", ())
        omitted = {end["name"]: end["omits"] for end in declared if "omits" in end}
    is_wrong = not omitted and (
        (is_out and _is_wrong(cell, wrong, least_cell)) or (is_much and _is_wrong(cell, _MOST_ALONE, None))
    )
    return Finding.of(
        "fail" if is_wrong else "warn",
        "unread-fields" if omitted else "long-pause",
        evidence,
        weight=max(excess, share),
        excess_s=excess_s if is_out else None,
        least=least_cell.stack.label,
        omitted=omitted,
    )


def _is_wrong(cell: CellEvidence, limit: float, least: CellEvidence | None) -> bool:
    """Whether in most blocks the pauses take more than this share beyond those of the other cell."""
    mine, theirs = _in_blocks(cell), _in_blocks(least) if least else {}
    shares = {block: pauses.pause_s / pauses.cycle_s for block, pauses in mine.items()}
    beside = {block: pauses.pause_s / mine[block].cycle_s for block, pauses in theirs.items() if block in mine}
    return is_of_the_stack(shares, limit, [beside])


def _in_blocks(cell: CellEvidence) -> dict[int, Pauses]:
    return {trial.record.block: pauses for trial, _, pauses in cell.parts(NAME)}


def _typical(cell: CellEvidence) -> Pauses | None:
    seen = [pauses for *_, pauses in cell.parts(NAME)]
    if not seen:
        return None
    return Pauses(pause_s=median(p.pause_s for p in seen), cycle_s=median(p.cycle_s for p in seen))


CHECK = Check(name=NAME, severity="serious", kinds=CALLS | CODECS, observe=observe, judge_beside=judge)
