"""How long opening connections took, as client libraries report it: of each trial, and of a cell. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from orchestrator.findings.opening import STEPS, CellOpening, TrialOpening
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics import intervals


def of_trial(record: TrialRecord) -> TrialOpening | None:
    """Return what the requesters of a trial reported; None where none did."""
    openings = [requester.done.opening for requester in record.requesters if requester.done.opening is not None]
    if not openings:
        return None
    return TrialOpening(
        told=sum(each.connections for each in openings),
        connect=_mean_ms([each.connect_s for each in openings]),
        tls=_mean_ms([each.tls_s for each in openings]),
    )


def of_cell(trials: Sequence[TrialOpening | None], carried: Sequence[int]) -> CellOpening | None:
    """`carried`: by how many connections the requests of each trial were; None where no trial has any."""
    if not carried or not any(carried):
        return None
    connect, tls = (_over_trials([getattr(t, step) for t in trials if t is not None]) for step in STEPS)
    return CellOpening(
        connections=float(median(carried)),
        told=sum(t.told for t in trials if t is not None),
        connect=connect[0],
        connect_interval=connect[1],
        tls=tls[0],
        tls_interval=tls[1],
    )


def _mean_ms(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return 1e3 * sum(known) / len(known) if known else None


def _over_trials(values: Sequence[float | None]) -> tuple[float | None, tuple[float, float] | None]:
    known = [value for value in values if value is not None and value > 0]
    if not known:
        return None, None
    mean = intervals.of_trials(known)
    return mean.ratio, mean.interval()
