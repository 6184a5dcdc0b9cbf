"""Where the handling time of requests to a store went, by the word of the responder: of a trial, and of a cell. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from orchestrator.analysis.evidence import RunEvidence
from orchestrator.analysis.store_time import PLACES, StoreTimes
from orchestrator.experiment.model.factors import DRIVER, STORE
from orchestrator.results.manifest import TrialRecord

_MS_PER_S = 1e3
_TOLERANCE, _TOLERANCE_MS = 0.05, 0.005  # of the handling time, or what reading the clock takes where that is little


def lines(run: RunEvidence) -> Iterator[tuple[str, str]]:
    """What, value: the databases that responders asked, with versions and the libraries that asked, by their word."""
    told = [
        trial.record.ready.settings for cell in run.cells for trial in cell.trials if trial.record.ready is not None
    ]
    found = {" by ".join(each[name] for name in (STORE, DRIVER) if name in each) for each in told if STORE in each}
    if found:
        yield "Databases", "; ".join(sorted(found))


def of_trial(record: TrialRecord) -> StoreTimes | None:
    """Of the measured phase; None where the responder did not tell, or answered nothing."""
    before = record.stats_warm.store if record.stats_warm else None
    after = record.stats.store if record.stats else None
    if before is None or after is None or (requests := after.requests - before.requests) <= 0:
        return None
    each = {
        name: _MS_PER_S * (getattr(after, f"{name}_s") - getattr(before, f"{name}_s")) / requests
        for name in ("handling", *PLACES)
    }
    return StoreTimes(**each, queries=(after.queries - before.queries) / requests)


def of_cell(records: Sequence[TrialRecord]) -> StoreTimes | None:
    """The medians over trials; None where none of them told."""
    told = [times for record in records if (times := of_trial(record)) is not None]
    if not told:
        return None
    return StoreTimes(
        **{name: median(getattr(times, name) for times in told) for name in ("handling", *PLACES, "queries")}
    )


def storeless(record: TrialRecord) -> tuple[int, int] | None:
    """Measured requests that had no connection to a database, and all of them; None where the responder did not tell."""
    before = record.stats_warm.store if record.stats_warm else None
    after = record.stats.store if record.stats else None
    if before is None or after is None:
        return None
    return after.storeless - before.storeless, after.requests - before.requests


def unaccounted(times: StoreTimes) -> str:
    """Whether time is missing from the parts of the handling time, or counted twice; empty where they add up to it."""
    off = sum(getattr(times, where) for where in PLACES) - times.handling
    # Of a stream one query reads many events: what reading the clock takes is shared by them.
    least = _TOLERANCE_MS * min(1.0, times.queries or 1.0)
    if abs(off) <= max(_TOLERANCE * times.handling, least):
        return ""
    return "some is counted twice" if off > 0 else "some is in none of them"
