"""CPU time and replies of each worker process of a responder, by its own count."""

from __future__ import annotations

from orchestrator.evidence.run_evidence import SHORT_WINDOW_S
from orchestrator.results.manifest import TrialRecord
from services.python.contract.responder_lines import Stats, WorkerStats

_Pairs = tuple[tuple[WorkerStats, WorkerStats], ...]


def cpu_share(record: TrialRecord, span_ns: int) -> float | None:
    """Its CPU time over the time in which requests were made: no more than all of it where that was short.

    Of several workers that of the busiest (`busiest_s`). What it did outside of that time (two connections of their own, and
    their checks) counts, too: up to some 70 ms.
    """
    cpu_s = busiest_s(record)
    if cpu_s is None or span_ns <= 0:
        return None
    share = cpu_s * 1e9 / span_ns
    return min(share, 1.0) if span_ns < SHORT_WINDOW_S * 1e9 else share


def busiest_s(record: TrialRecord) -> float | None:
    """CPU seconds of the responder from its start on to the end of the trial; None where it does not say.

    Of several workers those of the busiest, which is its own limit from one core's worth on; or those of each CPU, where
    there are fewer CPUs than workers and all of them together are busier than that. Whatever each says of itself, the
    busiest used no less than an even share of what all did.
    """
    used_s = record.responder_cpu_s
    if used_s is None or not _has_workers(record.stats_before) or not _has_workers(record.stats):
        return used_s
    own = [
        after.cpu_s - before.cpu_s
        for before, after in _pairs(record.stats_before, record.stats)
        if before.cpu_s is not None and after.cpu_s is not None
    ]
    workers = len(record.stats.workers) if record.stats and record.stats.workers else 1
    cpus = record.ready.cpus if record.ready is not None else None
    return max([*own, used_s / min(workers, cpus or workers)])


def answered(record: TrialRecord) -> tuple[int, ...] | None:
    """How many requests each worker answered in the measured phase; None where one process answers, or it does not say."""
    pairs = _pairs(record.stats_warm or record.stats_before, record.stats)
    return tuple(after.answered - before.answered for before, after in pairs) or None


def _has_workers(stats: Stats | None) -> bool:
    return stats is not None and bool(stats.workers)


def _pairs(before: Stats | None, after: Stats | None) -> _Pairs:
    first, last = (stats.workers or [] if stats is not None else [] for stats in (before, after))
    return tuple(zip(first, last, strict=True)) if len(first) == len(last) else ()
