"""requester's own work: how much of the time the requester verified and recorded while other requests were in flight.

With one request in flight that stands between two requests, where no clock runs. With several it stands in the latencies
of the others: a requester that is its own limit answers slower, and less, by up to that share.
"""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence

_MOST_UNNOTICED = 0.05
_MOST = 0.2


def judge(cell: CellEvidence) -> Finding | None:
    """The trial with the largest share; nothing with one request in flight."""
    if cell.cell.load.concurrency == 1:
        return None
    findings = []
    for trial in cell.trials:
        for part in trial.parts:
            entering_s, measured_s = part.done.get("entering_s"), part.done.get("measured_s")
            if entering_s is None or not measured_s:
                findings.append(
                    Finding(
                        verdict="cannot tell",
                        evidence={"trial": trial.record.index},
                        explanation="The requester did not say how long it verified and recorded.",
                    )
                )
            else:
                findings.append(_judged(trial.record.index, entering_s / measured_s))
    return worst(findings)


def _judged(trial: int, share: float) -> Finding:
    told = f"{words.percent(share)} of the time went into verifying and recording"
    if share <= _MOST_UNNOTICED:
        return Finding(verdict="pass", evidence={"trial": trial, "share": share}, weight=share, explanation=f"{told}.")
    return Finding(
        verdict="fail" if share > _MOST else "warn",
        evidence={"trial": trial, "share": share},
        weight=share,
        explanation=f"{told}: up to so much of these latencies, and of the throughput, is the requester's own.",
        action="Compare with stacks that have as much in flight, or read it with fewer; or offer a rate that leaves room.",
    )


CHECK = Check(name="requester's own work", severity="serious", judge=judge)
