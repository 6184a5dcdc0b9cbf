"""What a responder says of the time that it spent in its store, held against itself and against who asked it.

Nobody else measures where its time goes. But sums do not go backwards, no more requests go to the store than are answered,
no request is handled for longer than its requester waits for the reply, and none is answered without asking the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.checks.base import Finding
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.model.factors import POSTGRESQL, SQLITE, STORE
from orchestrator.questions.stores import times as store_times
from orchestrator.questions.stores.times import PLACES, StoreTimes

_LONGER, _LONGER_MS = 1.5, 0.05  # the responder's means are of a few requests more than the requester's
_ACTION = "Do not read where the responder's time goes; its latencies are not touched by this."


def findings(cell: CellEvidence) -> list[Finding]:
    """A finding for each trial whose sums cannot be; none where the responder tells of no store."""
    told = [(trial, times) for trial in cell.trials if (times := store_times.of_trial(trial.record)) is not None]
    found = [_finding(trial, times, text) for trial, times in told for text in _impossible(cell, trial, times)]
    # A machine that stops the responder for a moment between two of its stamps does so in a trial, and not in most.
    a_sample = "an event" if cell.cell.kind == "stream" else "a request"
    off = [_finding(trial, times, text) for trial, times in told if (text := _unaccounted(times, a_sample))]
    found += off if 2 * len(off) > len(told) else []
    return found + (list(_storeless(cell.trials)) if cell.cell.factors.get(STORE) in (SQLITE, POSTGRESQL) else [])


def _storeless(trials: Sequence[TrialEvidence]) -> Iterator[Finding]:
    """Of a responder over a database: requests that it answered without a connection to that, as from a cache."""
    for trial in trials:
        lacking, requests = store_times.storeless(trial.record) or (0, 0)
        if lacking:
            yield Finding(
                verdict="fail",
                evidence={"trial": trial.record.index, "storeless": lacking, "requests": requests},
                weight=lacking,
                explanation=f"In {trial.called} the responder asked the database nothing for"
                f" {quantities.count(lacking, 'request')} of {requests:,}.",
                action="Have it ask the database for every request, or leave `store` out: this is no service over one.",
            )


def _unaccounted(times: StoreTimes, a_sample: str) -> str:
    """Parts of the handling time that do not add up to it; empty where they do."""
    if not (off := store_times.unaccounted(times)):
        return ""
    return (
        f"The responder's handling took {quantities.ms(times.handling)} {a_sample}, and its parts (waiting, database, "
        "service)"
        f" add up to {quantities.percent(times.accounted)} of that: {off}."
    )


def _impossible(cell: CellEvidence, trial: TrialEvidence, times: StoreTimes) -> Iterator[str]:
    before, after = trial.record.stats_warm, trial.record.stats
    if before is None or after is None or before.store is None or after.store is None:
        return
    names = [f"{name}_s" for name in ("handling", *PLACES)] + ["queries"]
    if back := [name for name in names if getattr(after.store, name) < getattr(before.store, name)]:
        yield f"The responder's sum `{back[0]}` of what its store took went backwards."
        return
    asked, answered = after.store.requests - before.store.requests, after.answered - before.answered
    is_stream = cell.cell.kind == "stream"  # each event counts as a request
    if not is_stream and asked > answered + cell.cell.load.concurrency + len(trial.parts) * cell.check_requests:
        yield (
            f"The responder tells of {quantities.count(asked, 'request')} that its store took part in, and answered "
            f"{answered:,}"
            " in that time."
        )
    # Parts of one request that overlap are summed up, and a task's calls may overlap.
    waited = trial.summary.mean if trial.summary and not trial.errors and cell.cell.kind == "call" else None
    if waited is not None and times.queries <= 1 and times.handling > _LONGER * waited + _LONGER_MS:
        yield (
            f"The responder tells of {quantities.ms(times.handling)} to handle a request, on average, and who asked had "
            "waited"
            f" {quantities.ms(waited)} for the reply."
        )


def _finding(trial: TrialEvidence, times: StoreTimes, text: str) -> Finding:
    evidence = {"trial": trial.record.index, "accounted": times.accounted, **vars(times)}
    return Finding(verdict="fail", evidence=evidence, explanation=text, action=_ACTION)
