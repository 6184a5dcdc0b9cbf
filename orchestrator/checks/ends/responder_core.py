"""responder's core: whether the responder was the limit of what is measured.

Several requests in flight, or a rate, keep a responder busy; above 85 % of its core they wait for each other there, and
latency is as much a matter of how many there are as of the stack. With one in flight, nobody waits for anybody; the events
of a stream come by its schedule, and wait for each other with one client, too. Of several workers the busiest is judged, or
the CPUs that they share, and whether one of them had more than its share of the requests. The
CPU time includes what a trial asks before and after its requests; a short window cannot tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator import quantities
from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, not_reported, passes, warns
from orchestrator.evidence.run_evidence import SHORT_WINDOW_S, CellEvidence, TrialEvidence
from orchestrator.evidence.values_of_trial import answered
from orchestrator.experiment.plan.cells import workers_of
from services.python.contract.limits import SATURATED

_UNEVEN = 1.5  # times an even share
_FEWEST = 100  # requests for each worker, below which chance alone spreads them so


def judge(cell: CellEvidence) -> Iterator[Finding | None]:
    """The least even trial, and the busiest one."""
    yield from (_spread(cell, trial) for trial in cell.trials)
    yield from (_busy(cell, trial) for trial in cell.trials)


def _busy(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    is_stream, workers = cell.cell.kind == "stream", workers_of(cell.cell.factors)
    waits = cell.cell.load.concurrency > 1 or cell.is_open_loop or is_stream
    share = trial.summary.responder_cpu_share if trial.summary else None
    in_flight = cell.cell.load.concurrency
    evidence: dict[str, Any] = {"trial": trial.record.index, "cpu_share": share, "in_flight": in_flight}
    if (each := answered(trial.record)) is not None:
        evidence["answered"] = each  # by each worker
    if share is None:
        is_ours = not cell.is_external
        return not_reported("how much CPU time it used", "cpu_s", evidence, "responder", is_ours=is_ours)
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


def _spread(cell: CellEvidence, trial: TrialEvidence) -> Finding | None:
    """Whether a trial's workers could and did share the work; None where there is one, or too little was asked.

    Connections, not requests, are dealt out among workers: by who accepts first, or by a hash of the connection's addresses.
    """
    workers = workers_of(cell.cell.factors)
    if workers == 1 or cell.cell.load.concurrency == 1:
        return None
    cpus = trial.record.ready.cpus if trial.record.ready is not None else None
    each = answered(trial.record)
    evidence: dict[str, object] = {"trial": trial.record.index, "workers": workers, "cpus": cpus}
    if cpus is not None and cpus < workers:
        return warns(
            f"The {workers:,} workers shared {quantities.count(cpus, 'CPU')}: they waited for each other.",
            "Give them a CPU each: `pin: 'off'` on this machine, or a machine with more cores.",
            evidence | {"answered": each},
            weight=workers / cpus,
        )
    if each is None:
        return None
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


CHECK = Check(name="responder's core", severity="note", kinds=CALLS | STREAMS, judge=judge)
