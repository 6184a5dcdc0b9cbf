"""How the workers of a responder shared the requests: a part of the check `responder's core`.

Connections, not requests, are dealt out among workers: by who accepts first, or by a hash of the connection's addresses. So
one worker may have far more than its share, and its core is busy while others wait.
"""

from __future__ import annotations

from orchestrator import quantities
from orchestrator.checks.base import Finding, cannot_tell, warns
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
        return warns(
            f"The {workers:,} workers shared {quantities.count(cpus, 'CPU')}: they waited for each other.",
            "Give them a CPU each: `pin: 'off'` on this machine, or a machine with more cores.",
            evidence | {"answered": each},
            weight=workers / cpus,
        )
    if each is None:
        return cannot_tell(
            f"How its {workers:,} workers shared the requests is unknown: it does not say.",
            "Use a responder that prints `workers` in its `stats` line.",
            evidence,
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
        return warns(
            f"{quantities.count(busy, 'connection')} kept open can reach {busy:,} of its {workers:,} workers.",
            "Keep more connections than there are workers, or give fewer workers.",
            evidence,
            weight=workers / busy,
        )
    if share <= _UNEVEN / busy and not idle:
        return None
    unused = f", and {idle:,} answered none" if idle else ""
    return warns(
        f"One of its {workers:,} workers answered {shown} ({quantities.percent(1 / busy)} would be even){unused}: "
        "connections are dealt out, not requests.",
        "Read the rate as that of this spread; with more connections it is more even.",
        evidence,
        weight=share * busy,
    )
