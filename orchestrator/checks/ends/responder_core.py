"""responder's core: whether the responder was the limit of what is measured.

Several requests in flight, or a rate, keep a responder busy; above 85 % of its core they wait for each other there, and
latency is as much a matter of how many there are as of the stack. With one in flight, nobody waits for anybody; the events
of a stream come by its schedule, and wait for each other with one client, too. Of several workers the busiest is judged, or
the CPUs that they share. The CPU time includes what a trial asks before and after its requests; a short window cannot tell
the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, not_reported, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.plan.cells import workers_of
from orchestrator.findings.limits import SHORT_WINDOW_S
from services.python.contract.limits import SATURATED


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """The busiest trial."""
    yield from (_busy(cell, trial) for trial in cell.trials)


def _busy(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    in_flight, is_stream = cell.cell.load.concurrency, cell.cell.kind == "stream"
    waits = in_flight > 1 or cell.is_open_loop or is_stream
    share = trial.summary.responder_cpu_share if trial.summary else None
    evidence: dict[str, Any] = {"trial": trial.record.index, "cpu_share": share, "in_flight": in_flight}
    if share is None:
        return not_reported("cpu_s", evidence, cell)
    window_s = trial.summary.responder_window_s if trial.summary else None
    workers = workers_of(cell.cell.factors)
    if not waits or share <= SATURATED:
        return passes("busy", evidence, weight=share, workers=workers)
    if window_s is not None and window_s < SHORT_WINDOW_S:
        kind = "brief-events" if is_stream else "brief-requests"
        return cannot_tell(kind, {**evidence, "window_s": window_s}, least_s=SHORT_WINDOW_S)
    return warns("events-wait" if is_stream else "requests-wait", evidence, weight=share, workers=workers)


CHECK = Check(name="responder's core", severity="note", kinds=CALLS | STREAMS, judge=judge)
