"""responder's core: whether the responder was the limit of what is measured.

Several requests in flight, or a rate, keep a responder busy; above 85 % of its core they wait for each other there, and
latency is as much a matter of how many there are as of the stack. With one in flight, nobody waits for anybody. The
CPU time includes what a trial asks before and after its requests; a short window cannot tell the two apart.
"""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import CALLS_AND_STREAMS, Check, Finding, worst
from orchestrator.analysis.evidence import SHORT_WINDOW_S, CellEvidence

_SATURATED = 0.85


def judge(cell: CellEvidence) -> Finding | None:
    """The busiest trial."""
    several = cell.cell.load.concurrency > 1 or cell.is_open_loop
    findings = []
    for trial in cell.trials:
        share = trial.summary.responder_cpu_share if trial.summary else None
        evidence = {"trial": trial.record.index, "cpu_share": share, "in_flight": cell.cell.load.concurrency}
        if share is None:
            findings.append(
                Finding(
                    verdict="cannot tell",
                    evidence=evidence,
                    explanation="The responder did not say how much CPU time it used.",
                )
            )
            continue
        window_s = trial.summary.responder_window_s if trial.summary else None
        if several and share > _SATURATED and window_s is not None and window_s < SHORT_WINDOW_S:
            findings.append(
                Finding(
                    verdict="cannot tell",
                    evidence={**evidence, "window_s": window_s},
                    explanation=(
                        f"Requests were made for {words.ms(window_s * 1e3)} only: the responder's CPU time may have gone "
                        "into starting and ending the trial."
                    ),
                    action=f"Measure for {SHORT_WINDOW_S:g} s or longer to have this checked.",
                )
            )
            continue
        told = f"The responder's core was {words.percent(share)} busy"
        if several and share > _SATURATED:
            findings.append(
                Finding(
                    verdict="warn",
                    evidence=evidence,
                    weight=share,
                    explanation=f"{told}: it is the limit here, and requests wait for each other.",
                    action="Read throughput as the responder's most; for latency, lower the concurrency or the rate.",
                )
            )
        else:
            findings.append(Finding(verdict="pass", evidence=evidence, weight=share, explanation=f"{told}."))
    return worst(findings)


CHECK = Check(name="responder's core", severity="note", kinds=CALLS_AND_STREAMS, judge=judge)
