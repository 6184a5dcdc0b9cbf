"""How the workers of a responder shared the requests: a part of the check `responder's core`.

Connections, not requests, are dealt out among workers: by who accepts first, or by a hash of the connection's addresses. So
one worker may have far more than its share, and its core is busy while others wait.
"""

from __future__ import annotations

from orchestrator import quantities
from orchestrator.checks.base import Finding
from orchestrator.evidence import responder_workers
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.plan.cells import workers_of

_UNEVEN = 1.5  # times an even share
_FEWEST = 100  # requests for each worker, below which chance alone spreads them so


def has_several(cell: CellEvidence) -> bool:
    """Whether several requests may be in flight."""
    return cell.cell.load.concurrency > 1


def finding(cell: CellEvidence, trial: TrialEvidence) -> Finding | None:
    """Whether a trial's workers could and did share the work; None where there is one, or too little was asked."""
    workers = workers_of(cell.cell.factors)
    if workers == 1 or not has_several(cell):
        return None
    cpus = trial.record.ready.cpus if trial.record.ready is not None else None
    each = responder_workers.answered(trial.record)
    evidence: dict[str, object] = {"trial": trial.record.index, "workers": workers, "cpus": cpus}
    if cpus is not None and cpus < workers:
        return Finding(
            verdict="warn",
            evidence=evidence | {"answered": each},
            weight=workers / cpus,
            explanation=f"The {workers:,} workers shared {quantities.count(cpus, 'CPU')}: they waited for each other.",
            action="Give them a CPU each: `pin: 'off'` on this machine, or a machine with more cores.",
        )
    if each is None:
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"How its {workers:,} workers shared the requests is unknown: it does not say.",
            action="Use a responder that prints `workers` in its `stats` line.",
        )
    total = sum(each)
    if total < _FEWEST * workers:
        return None
    busy = workers
    if cell.cell.connection == "reuse":
        busy = min(workers, sum(part.connections for part in trial.parts))
    share, idle = max(each) / total, each.count(0)
    shown = f"{quantities.percent(share)} of the requests"
    evidence |= {"answered": each, "of_the_busiest": share}
    if busy < workers:
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=workers / busy,
            explanation=f"{quantities.count(busy, 'connection')} kept open can reach {busy:,} of its {workers:,} workers.",
            action="Keep more connections than there are workers, or give fewer workers.",
        )
    if share <= _UNEVEN / busy and not idle:
        return None
    unused = f", and {idle:,} answered none" if idle else ""
    return Finding(
        verdict="warn",
        evidence=evidence,
        weight=share * busy,
        explanation=(
            f"One of its {workers:,} workers answered {shown} ({quantities.percent(1 / busy)} would be even){unused}: "
            "connections are dealt out, not requests."
        ),
        action="Read the rate as that of this spread; with more connections it is more even.",
    )
