"""What a responder says of the time that it spent in its store, held against itself and against who asked it.

Nobody else measures where its time goes. But sums do not go backwards, no more requests go to the store than are answered,
no request is handled for longer than its requester waits for the reply, and none is answered without asking the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.checks.base import Finding, fails
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.model.factors import POSTGRESQL, SQLITE, STORE
from orchestrator.questions.stores import times as store_times
from orchestrator.questions.stores.times import StoreTimes

_ACTION = "Do not read where the responder's time goes; its latencies are not touched by this."


def findings(cell: CellEvidence) -> list[Finding]:
    """A finding for each trial whose sums cannot be; none where the responder tells of no store."""
    trials = [(trial, times) for trial in cell.trials if (times := store_times.of_trial(trial.record)) is not None]
    # A machine that stops the responder for a moment between two of its stamps does so in a trial, and not in most.
    a_sample = "an event" if cell.cell.kind == "stream" else "a request"
    off = [_finding(trial, times, text) for trial, times in trials if (text := _unaccounted(times, a_sample))]
    results = off if 2 * len(off) > len(trials) else []
    return results + (list(_storeless(cell.trials)) if cell.cell.factors.get(STORE) in (SQLITE, POSTGRESQL) else [])


def _storeless(trials: Sequence[TrialEvidence]) -> Iterator[Finding]:
    """Of a responder over a database: requests that it answered without a connection to that, as from a cache."""
    for trial in trials:
        lacking, requests = store_times.storeless(trial.record) or (0, 0)
        if lacking:
            yield fails(
                f"In {trial.called} the responder asked the database nothing for"
                f" {quantities.count(lacking, 'request')} of {requests:,}.",
                "Have it ask the database for every request, or leave `store` out: this is no service over one.",
                {"trial": trial.record.index, "storeless": lacking, "requests": requests},
                weight=lacking,
            )


def _unaccounted(times: StoreTimes, a_sample: str) -> str:
    """Parts of the handling time that do not add up to it; empty where they do."""
    if not (off := store_times.unaccounted(times)):
        return ""
    return (
        f"The responder's handling took {quantities.ms(times.handling)} {a_sample}, and its parts (waiting, "
        f"database, service) add up to {quantities.percent(times.accounted)} of that: {off}."
    )


def _finding(trial: TrialEvidence, times: StoreTimes, text: str) -> Finding:
    evidence = {"trial": trial.record.index, "accounted": times.accounted, **vars(times)}
    return fails(text, _ACTION, evidence)
