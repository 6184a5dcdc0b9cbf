"""The median of one trial that just ended, from its raw records: what the journal keeps for whoever watches the run.

It is a preview: what a report says comes from all samples of a cell, by `collect`. Both read `evidence.Samples`, so that
a latency is the same thing in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from orchestrator.evidence.joined_turns import joined, turn_medians
from orchestrator.evidence.run_evidence import Samples
from orchestrator.experiment.plan.plan import Cell
from orchestrator.results.manifest import TrialRecord
from orchestrator.results.records import written
from orchestrator.results.rows import columns_of
from orchestrator.results.turn_times import TrialMedian
from orchestrator.statistics.quantiles import finite, quantile


def trial_median(cell: Cell, records: Sequence[Path], trial: TrialRecord | None = None) -> TrialMedian | None:
    """The median latency of a trial in ns, and of its turns in ms.

    A request without a right reply counts as slower than every reply.

    `trial`: of one that took turns, those that others disturbed do not count.

    None where that is no figure: of streams and of several operations at once, and where most requests failed.
    """
    if cell.recorded in ("stream", "mix"):
        return None
    latencies, failed = [], 0
    turns: tuple[tuple[int, float], ...] = ()
    for record in records:
        for rows in written(record, kind=cell.recorded, parts=cell.parts, at_once=cell.is_at_once):
            columns = columns_of(rows)
            in_turns = trial if trial is not None and trial.turns else None
            measured = columns if in_turns is None else joined(columns, in_turns)
            samples = Samples(measured, is_open_loop=cell.load.rate_per_s is not None)
            if in_turns is not None:  # one requester measures them
                turns = turn_medians(samples, in_turns)
            latencies.append(samples.latency_ns)
            failed += int(samples.failed.sum())
    ordered = np.sort(np.concatenate(latencies)) if latencies else np.zeros(0, dtype=np.int64)
    median = finite(quantile(ordered, 0.5, failed)) if ordered.size + failed else None
    return None if median is None else TrialMedian(median=median, turns=turns)
