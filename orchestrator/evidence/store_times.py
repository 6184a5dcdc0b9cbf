"""Where the handling time of requests to a store went, by the word of the responder: of a trial, and of a cell. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from orchestrator.findings.summary import PLACES, StoreTimes
from orchestrator.results.manifest import TrialRecord
from services.python.contract.responder_lines import StoreTimes as StoreSums

_MS_PER_S = 1e3


def counts(record: TrialRecord) -> tuple[StoreSums, StoreSums] | None:
    """The responder's counts before and after the measured phase; None where it did not tell."""
    before = record.stats_warm.store if record.stats_warm else None
    after = record.stats.store if record.stats else None
    return None if before is None or after is None else (before, after)


def of_trial(record: TrialRecord) -> StoreTimes | None:
    """Of the measured phase; None where the responder did not tell, or answered nothing."""
    before, after = counts(record) or (None, None)
    if before is None or after is None or (requests := after.requests - before.requests) <= 0:
        return None
    each = {
        name: _MS_PER_S * (getattr(after, f"{name}_s") - getattr(before, f"{name}_s")) / requests
        for name in ("handling", *PLACES)
    }
    return StoreTimes(**each, queries=(after.queries - before.queries) / requests)


def of_cell(records: Sequence[TrialRecord]) -> StoreTimes | None:
    """The medians over trials; None where none of them told."""
    known = [times for record in records if (times := of_trial(record)) is not None]
    if not known:
        return None
    return StoreTimes(
        **{name: median(getattr(times, name) for times in known) for name in ("handling", *PLACES, "queries")}
    )
