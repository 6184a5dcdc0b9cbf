"""responder's core: whether the responder was the limit of what is measured.

Several requests in flight, or a rate, keep a responder busy; above 85 % of its core they wait for each other there, and
latency is as much a matter of how many there are as of the stack. With one in flight, nobody waits for anybody; the events
of a stream come by its schedule, and wait for each other with one client, too. Of several workers the busiest is judged, or
the CPUs that they share, and whether one of them had more than its share of the requests (`spread`). The
CPU time includes what a trial asks before and after its requests; a short window cannot tell the two apart.
"""

from __future__ import annotations

from typing import Any

from orchestrator import quantities
from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, passes, warns, worst
from orchestrator.checks.ends import spread
from orchestrator.evidence.responder_workers import answered
from orchestrator.evidence.run_evidence import SHORT_WINDOW_S, CellEvidence
from orchestrator.experiment.plan.cells import workers_of
from services.python.contract.limits import SATURATED


def judge(cell: CellEvidence) -> Finding | None:
    """The busiest trial."""
    several = spread.has_several(cell) or cell.is_open_loop or cell.cell.kind == "stream"
    one = "event" if cell.cell.kind == "stream" else "request"
    work = "Events were sent" if cell.cell.kind == "stream" else "Requests were made"
    workers = workers_of(cell.cell.factors)
    whose = "The responder's core" if workers == 1 else f"The busiest core of the responder's {workers:,} workers"
    findings = [uneven for trial in cell.trials if (uneven := spread.finding(cell, trial))]
    for trial in cell.trials:
        share = trial.summary.responder_cpu_share if trial.summary else None
        evidence: dict[str, Any] = {"trial": trial.record.index, "cpu_share": share}
        evidence |= {"in_flight": cell.cell.load.concurrency}
        if (each := answered(trial.record)) is not None:
            evidence["answered"] = each  # by each worker
        if share is None:
            findings.append(
                cannot_tell(
                    f"How much CPU time it used is unknown: {quantities.NOT_OURS}."
                    if cell.is_external
                    else "The responder did not report how much CPU time it used.",
                    "Use a responder that orch starts, and that prints `cpu_s` in its `stats` line.",
                    evidence,
                )
            )
            continue
        window_s = trial.summary.responder_window_s if trial.summary else None
        if several and share > SATURATED and window_s is not None and window_s < SHORT_WINDOW_S:
            findings.append(
                cannot_tell(
                    f"{work} for only {quantities.ms(window_s * 1e3)}: the responder's CPU time may have gone "
                    "into starting and ending the trial.",
                    f"Measure for {SHORT_WINDOW_S:g} s or longer.",
                    {**evidence, "window_s": window_s},
                )
            )
            continue
        measured = f"{whose} was {quantities.percent(share)} busy"
        if several and share > SATURATED:
            findings.append(
                warns(
                    f"{measured}: it is the bottleneck, and {one}s wait for each other.",
                    "Read throughput as the responder's maximum; for latency, lower the concurrency or the rate.",
                    evidence,
                    weight=share,
                )
            )
        else:
            findings.append(passes(f"{measured}.", evidence, weight=share))
    return worst(findings)


CHECK = Check(name="responder's core", severity="note", kinds=CALLS | STREAMS, judge=judge)
