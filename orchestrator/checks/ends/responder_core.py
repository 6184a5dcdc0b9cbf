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

from orchestrator import quantities
from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, not_reported, passes, warns
from orchestrator.evidence.run_evidence import SHORT_WINDOW_S, CellEvidence, TrialEvidence
from orchestrator.experiment.plan.cells import workers_of
from services.python.contract.limits import SATURATED


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """The busiest trial."""
    yield from (_busy(cell, trial) for trial in cell.trials)


def _busy(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    is_stream, workers = cell.cell.kind == "stream", workers_of(cell.cell.factors)
    waits = cell.cell.load.concurrency > 1 or cell.is_open_loop or is_stream
    share = trial.summary.responder_cpu_share if trial.summary else None
    in_flight = cell.cell.load.concurrency
    evidence: dict[str, Any] = {"trial": trial.record.index, "cpu_share": share, "in_flight": in_flight}
    if share is None:
        return not_reported("cpu_s", evidence, cell)
    window_s = trial.summary.responder_window_s if trial.summary else None
    if waits and share > SATURATED and window_s is not None and window_s < SHORT_WINDOW_S:
        work = "Events were sent" if is_stream else "Requests were made"
        return cannot_tell(
            f"{work} for only {quantities.ms(window_s * 1e3)}: the responder's CPU time may have gone "
            "into starting and ending the trial.",
            f"Measure for {SHORT_WINDOW_S:g} s or longer.",
            {**evidence, "window_s": window_s},
        )
    whose = "The responder's core" if workers == 1 else f"The busiest core of the responder's {workers:,} workers"
    measured = f"{whose} was {quantities.percent(share)} busy"
    if waits and share > SATURATED:
        return warns(
            f"{measured}: it is the bottleneck, and {'events' if is_stream else 'requests'} wait for each other.",
            "Read throughput as the responder's maximum; for latency, lower the concurrency or the rate.",
            evidence,
            weight=share,
        )
    return passes(f"{measured}.", evidence, weight=share)


CHECK = Check(name="responder's core", severity="note", kinds=CALLS | STREAMS, judge=judge)
