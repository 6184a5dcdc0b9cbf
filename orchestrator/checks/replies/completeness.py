"""completeness: every request that was made is recorded, once and in the phase in which it was made.

What is entered as warm-up or as not sent is in no percentile. So the warm-up is over before the measured phase begins, by
number and by time, as protos/process.md has it; and only a schedule can have something due that is never sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, not_reported, passes, point, untroubled
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from services.python.contract.lines import STATUSES

# May have failed before the responder saw them; an error in the protocol's words may be that of something in between.
_UNANSWERED = [STATUSES.index(name) for name in STATUSES if name not in ("ok", "wrong-reply", "not-sent", "unverified")]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What the record holds, warm-up included where not said otherwise: the responder's count does not know of phases."""

    recorded: int  # rows of the record, those of parts too
    rows: int  # samples
    parts: int
    measured: int
    never_sent: int
    absent: int  # sequence numbers between 1 and the last that have no row
    repeated: int
    out_of_place: int  # of the warm-up, and not over before the measured phase
    unanswered: int  # ended in a way that may have kept the request from the responder


def observe(samples: Samples) -> Rows:
    """Sequence numbers are given at sending, so that a row left out leaves a gap."""
    numbers = np.sort(samples.columns["sequence"])
    repeated = int((np.diff(numbers) == 0).sum())
    return Rows(
        recorded=samples.recorded,
        rows=samples.rows,
        parts=samples.recorded - samples.rows,
        measured=samples.measured,
        never_sent=int(samples.never_sent_ns.size),
        absent=int(numbers[-1]) - (samples.rows - repeated) if samples.rows else 0,
        repeated=repeated,
        out_of_place=samples.out_of_place,
        unanswered=int(np.isin(samples.columns["status"], _UNANSWERED).sum()),
    )


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """Gaps, counts that disagree between record, requester and responder, and trials that are missing.

    Whether each event of a stream is recorded, `event stream` says.
    """
    if cell.cell.kind == "stream":
        yield passes("events", {"trials": len(cell.trials)})
    else:
        yield from (_rows(cell, trial, part, rows) for trial, part, rows in cell.parts(NAME))
        if cell.cell.kind != "codec":  # it has nobody who answers
            yield from (_answered(cell, trial) for trial in cell.trials)
    if cell.failed or sum(1 for trial in cell.trials if trial.summary) < cell.planned:
        yield _missing_trials(cell)


def _rows(cell: CellEvidence, trial: TrialEvidence, part: Part, rows: Rows) -> Finding:
    done, troubles = part.done, []
    if rows.absent or rows.repeated:
        troubles.append(point("gaps"))
    if rows.out_of_place:
        troubles.append(point("out-of-place"))
    if rows.never_sent and not cell.is_open_loop:
        troubles.append(point("never-sent"))
    if done.rows != rows.recorded or done.requests != rows.measured:
        troubles.append(point("reported-otherwise", requests=done.requests))
    evidence = {"trial": trial.record.index, **rows.__dict__, "said": done.rows}
    return untroubled(troubles, "incomplete", evidence, f"recorded-{cell.cell.kind}")


def _answered(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    """The responder's own count against the record's: it knows of a task's calls, and not of tasks."""
    before, after = trial.record.stats_before, trial.record.stats
    if before is None or after is None or cell.stack.external is not None:
        return not_reported("answered", {"trial": trial.record.index}, cell)
    seen = [part.seen[NAME] for part in trial.parts if NAME in part.seen]
    rows = sum(s.parts if cell.cell.kind == "task" else s.rows - s.never_sent for s in seen)
    unanswered = sum(s.unanswered for s in seen)
    answered = after.answered - before.answered
    # A library may ask again by itself after a lost connection, and an awaited reply may come after the count.
    slack = len(trial.parts) * cell.check_requests + unanswered
    evidence = {"trial": trial.record.index, "answered": answered, "recorded": rows, "slack": slack}
    troubles = []
    if answered > rows + slack:
        troubles.append(point("answered-more"))
    if answered < rows + len(trial.parts) * cell.check_requests - unanswered:
        troubles.append(point("answered-less"))
    return untroubled(troubles, "incomplete", evidence, "answered")


def _missing_trials(cell: CellEvidence) -> Finding:
    """A failure where all that were tried failed: a cell that cannot be measured is not merely unfinished."""
    usable = [trial for trial in cell.trials if trial.summary]
    empty = len(cell.trials) - len(usable)
    evidence = {"planned": cell.planned, "finished": len(usable), "failed": len(cell.failed), "empty": empty}
    is_lost = not usable and (cell.failed or empty)
    return Finding.of("fail" if is_lost else "warn", "few-trials" if usable else "no-trial", evidence)


NAME = "completeness"
CHECK = Check(
    name=NAME,
    severity="fatal",
    kinds=CALLS | CODECS | STREAMS,
    observe=observe,
    judge=judge,
    judges_empty=True,
)
