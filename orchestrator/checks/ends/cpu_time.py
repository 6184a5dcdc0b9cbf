"""CPU time: whether ends in turns use CPU time while they are idle, which they take from another stack's turn.

Only a warning: another stack had less, and this one is measured rightly.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, passes, warns
from orchestrator.evidence.host_noise import elapsed_s as elapsed
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.results.turn_times import REST_S

MOST_IDLE = 0.05
"""Of a CPU: what an idle end may use."""


def judge(cell: CellEvidence) -> list[Finding]:
    """What each end used while another stack had its turn, of a cell in turns; none of another cell.

    After the turns of a block all ends rest: what the responder uses then, it used beside the others' turns, too. A
    requester's own counters hold its turns and the time between them.
    """
    return [_idle_end(trial, *share) for trial in cell.trials if trial.record.turns for share in _shares(trial)]


def _shares(trial: TrialEvidence) -> Iterator[tuple[str, float]]:
    record = trial.record
    if record.rest_cpu_s is not None:
        yield "responder", record.rest_cpu_s / REST_S
    for part in record.requesters:
        before, after = part.done.host_before, part.done.host_after
        elapsed_s = elapsed(before, after)
        if before is None or after is None or not before.process or not after.process:
            continue
        work = [turn.cpu_s * (turn.requests + turn.warm_up) / max(1, turn.requests) for turn in record.turns]
        idle_s = elapsed_s - sum(turn.length_s for turn in record.turns)
        used_s = after.process.get("cpu_s", 0.0) - before.process.get("cpu_s", 0.0) - sum(work)
        if idle_s > 1:
            yield "requester", max(0.0, used_s) / idle_s


def _idle_end(trial: TrialEvidence, end: str, share: float) -> Finding:
    judged, kind = (passes, "idle") if share <= MOST_IDLE else (warns, "busy")
    return judged(kind, {"trial": trial.record.index, "end": end, "share": share}, weight=share)


CHECK = Check(name="CPU time", severity="note", kinds=CALLS | STREAMS, judge=judge)
