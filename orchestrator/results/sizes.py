"""The greatest size of every file of a run folder: a folder from elsewhere may hold files of any size, or that only say so.

All of them are far above what `orch` writes within its limits (10,000 cells, 50,000 trials). What is above is refused
before it is read. Sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from orchestrator import record_layout
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.results.manifest import BaselineRecord, TrialRecord
from services.python.contract.limits import Recorded
from services.python.contract.ping_lines import PingDone
from services.python.contract.requester_lines import Done
from services.python.contract.streams import MOST_EVENTS, schedule

PLAN = 1 << 26
EXPERIMENT = 1 << 20
JOURNAL = 1 << 30
JOURNAL_LINE = 1 << 24  # both ends may print lines of 1 MiB
NOTE = 1 << 16
SUMMARY = 1 << 28
RECORD = 4 << 30
MANIFEST = 1 << 30
TURN = 1 << 26  # what a load generator may print
REPORT = 1 << 27  # an HTML file
DATASET_ROWS = 400_000  # of the samples inside a report: twice what it is to hold, as each trial has some
_PER_JOURNAL = 16  # manifest.json is the same data, each value on an indented line of its own

FREE_ROWS = 1_000_000  # of a run, beyond one for each byte of its files: measured times never take as little as a byte
_BYTES_OF_ROW = 25 * 16  # of Parquet: up to 25 columns, none of them wider
_BYTES_OF_FILE = 4 << 20
_FASTEST_PER_S = 250_000  # requests of one requester, far beyond any
_BASELINE_ROWS = 1_000_000
_MOST_PARTS: Mapping[Recorded, int] = {
    "call": 0,
    "task": 0,
    "codec": 4,
    "stream": 0,
    "mix": 0,
}  # where a plan does not say it
_SPARE_ROWS = 1_000  # beyond what the requester says that it did


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a samples file may hold: rows at most, of which kind of work, and how many parts a right sample of it has.

    `subscriptions`: how many a stream's may have at most, None where that is not known.
    """

    most_rows: int = 0
    kind: Recorded = "call"
    parts: int | None = None
    at_once: bool = False  # its parts may overlap
    subscriptions: int | None = None


def manifest(journal: int, plan: int) -> int:
    """The greatest manifest.json that a journal and a plan of these sizes can give."""
    return min(MANIFEST, _PER_JOURNAL * (journal + plan) + NOTE)


def samples(rows: int) -> int:
    """The greatest Parquet file of so many rows, compressed or not."""
    return rows * _BYTES_OF_ROW + _BYTES_OF_FILE


def held(plan: Plan, trials: Iterable[TrialRecord], baselines: Iterable[BaselineRecord]) -> dict[str, Held]:
    """What each samples file may hold, by its path: what the plan lets a requester ask, and it says it did.

    The requester's word is its `done` line, as the journal keeps it.
    """
    cells = {
        cell.id: Held(
            most_rows=_rows_of(cell),
            kind=cell.recorded,
            parts=cell.parts,
            at_once=cell.is_at_once,
            subscriptions=2 * cell.load.concurrency if cell.kind == "stream" else None,
        )
        for cell in plan.cells
    }
    found = {}
    for trial in trials:
        of_cell = cells.get(trial.cell, Held())
        for part in trial.requesters:
            if part.samples:
                found[part.samples] = replace(of_cell, most_rows=min(of_cell.most_rows, _said(part.done)))
    for baseline in baselines:
        rows = min(_BASELINE_ROWS, _said(baseline.done)) if baseline.done else _BASELINE_ROWS
        found[baseline.samples] = Held(most_rows=rows)
    return found


def _said(done: Done | PingDone) -> int:
    """Rows that a requester's or a ping's last line speaks of, and some."""
    if isinstance(done, PingDone):
        return done.sent + _SPARE_ROWS
    return max(done.rows, done.warmup_requests + done.requests + done.not_sent) + _SPARE_ROWS


def _rows_of(cell: Cell) -> int:
    """Warm-up and measured requests of one requester."""
    load, warmup = cell.load, cell.warmup
    if cell.kind == "stream":
        return _rows_of_streams(cell)
    measured = float(load.requests or 0)
    if load.duration_s is not None:
        # Arrivals at random may be more than their rate says, but never twice as many and a thousand.
        measured += (
            load.duration_s * _FASTEST_PER_S if load.rate_per_s is None else _twice(load.duration_s, load.rate_per_s)
        )
    warm = warmup.requests + warmup.at_least_s * _FASTEST_PER_S
    rows = (measured + warm + load.concurrency) * (1 + (0 if cell.mixed else cell.parts or _MOST_PARTS[cell.kind]))
    return int(min(rows, (RECORD - record_layout.HEADER_BYTES) // record_layout.ROW.size))


def _rows_of_streams(cell: Cell) -> int:
    """Both phases' subscriptions, and their events: who sends more than twice as many as were asked for is refused."""
    load, warmup, per_second = cell.load, cell.warmup, float(cell.factors["per_second"] or 1.0)
    seconds = (min(warmup.at_least_s, warmup.at_most_s), load.duration_s or 0.0)
    events = load.concurrency * sum(schedule(per_second, each_s)[1] for each_s in seconds)
    return 2 * min(events, MOST_EVENTS) + 4 * load.concurrency


def _twice(duration_s: float, rate_per_s: float) -> float:
    return 2 * duration_s * rate_per_s + 1_000
