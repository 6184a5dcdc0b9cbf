"""Whether what a responder says of its workers fits the cell, itself and what it said before: a part of `completeness`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from orchestrator import quantities
from orchestrator.results.manifest import TrialRecord
from services.python.contract.responder_lines import Stats

_PROCESSES = "worker process", "worker processes"


def troubles(record: TrialRecord, workers: int) -> list[str]:
    """What is wrong in the lines of a trial whose cell has so many workers, each once."""
    found = []
    if record.ready is not None and (told := record.ready.workers or 1) != workers:
        found.append(f"the responder answered from {quantities.count(told, *_PROCESSES)}, the plan has {workers:,}")
    readings = [stats for stats in (record.stats_before, record.stats_warm, record.stats) if stats is not None]
    for stats in readings:
        found += _in_itself(stats, workers)
    if any(_falls(before, after) for before, after in pairwise(readings)):
        found.append("a worker of the responder counts fewer requests or peers than before")
    return list(dict.fromkeys(found))


def _in_itself(stats: Stats, workers: int) -> Iterator[str]:
    each = stats.workers
    if each is None:
        return
    if len(each) != workers:
        yield f"the responder's counts are of {quantities.count(len(each), *_PROCESSES)}, the plan has {workers:,}"
        return
    if sum(worker.answered for worker in each) != stats.answered:
        yield f"the responder answered {stats.answered:,} requests, and its workers another number in all"
    peers = [worker.peers for worker in each]
    if not max(peers) <= stats.peers <= sum(peers):
        yield (
            f"the responder met {quantities.count(stats.peers, 'peer')}, which its workers' {sum(peers):,} do not add "
            "up to"
        )


def _falls(before: Stats, after: Stats) -> bool:
    return any(
        later.answered < earlier.answered or later.peers < earlier.peers
        for earlier, later in zip(before.workers or [], after.workers or [], strict=False)
    )
