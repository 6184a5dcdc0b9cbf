"""How far latencies spread: of each trial, and of a cell with the interval of its trials'. Pure.

A spread is estimated as every other number of a cell: each trial yields one, and the t-interval of their logarithms says
how sure it is (`intervals`). Resampling the requests of a trial would say nothing of the next process; resampling a handful
of trials covers less than it promises: `docs/validation/README.md` shows by how much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orchestrator.questions.stability.spread import SHOWN, CellSpread, TrialSpread
from orchestrator.statistics import intervals
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.quantiles import Nanoseconds


def of_trial(ordered: Nanoseconds, failed: int, first_ms: float | None) -> TrialSpread:
    """Of sorted latencies (ns), `failed` more requests without a right reply, and the first request of a connection (ms)."""
    median = st.finite(st.supported_quantile(ordered, 0.5, failed))
    p99 = st.finite(st.supported_quantile(ordered, 0.99, failed))
    high = st.finite(st.supported_quantile(ordered, 0.75, failed))
    return TrialSpread(
        sd=None if failed or ordered.size < st.SUPPORT else _sd_ms(ordered),
        iqr=None if high is None else high - st.quantile(ordered, 0.25, failed) / st.NS_PER_MS,
        p99_to_p50=p99 / median if p99 is not None and median else None,
        first_to_steady=first_ms / median if first_ms is not None and median else None,
    )


def of_cell(trials: Sequence[TrialSpread | None]) -> dict[str, CellSpread]:
    """Each spread that every trial of the cell has."""
    spreads: dict[str, CellSpread] = {}
    for name in SHOWN:
        values = [getattr(trial, name) if trial else None for trial in trials]
        known = [float(value) for value in values if value is not None and value > 0]
        if known and len(known) == len(values):
            mean = intervals.of_trials(known)
            spreads[name] = CellSpread(value=mean.ratio, interval=mean.interval())
    return spreads


def _sd_ms(ordered: Nanoseconds) -> float:
    """About the minimum, as in `statistics.distribution`."""
    return float((ordered - ordered[0]).astype(np.float64).std(ddof=1)) / st.NS_PER_MS
