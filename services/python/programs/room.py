"""For how many rows a trial's record makes room beforehand."""

from __future__ import annotations

from services.python.contract.lines import Load, Trial
from services.python.contract.timing_rules import RULES, are_asked_for

_PARTS_OF_A_CODEC = 2  # encoding and decoding
_ROWS_PER_S = 20_000  # more than a Python client asks; the record grows should it not suffice


def expected_rows(trial: Trial) -> int:
    """How many rows to make room for beforehand."""
    load: Load = trial.load
    each = 1 if trial.calls == 1 else 1 + trial.calls  # a task and its parts
    each = 1 + _PARTS_OF_A_CODEC if trial.target is None else each
    each = 1 + len(RULES) if are_asked_for(trial.knobs) else each
    warm = max(trial.warmup.requests, int(trial.warmup.at_least_s * _ROWS_PER_S))
    if load.duration_s is None:
        return each * (warm + (load.requests or 0))
    by_time = int(load.duration_s * (load.rate_per_s or _ROWS_PER_S) * 1.1)
    return each * (warm + (by_time if load.requests is None else min(by_time, load.requests)))
