"""Closed loops with think time: what is a latency, and that the checks see through the rests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from tests.support.judged import of, verdicts
from tests.support.made_up import clock_that_stops_at
from tests.support.runs import MS, a_run

LITTLE, OFFERED, FLIGHT, OWN = "Little's law", "offered load", "in flight", "requester's own work"


def load(concurrency: int = 8, thinking: Any = "exponential", think_s: float = 0.004) -> p.Load:
    return p.Load(concurrency=concurrency, requests=2_000, think_s=think_s, thinking=thinking)


@pytest.mark.parametrize(
    ("concurrency", "thinking", "connection"),
    [
        (8, "exponential", "reuse"),
        (1, "constant", "reuse"),
        (8, "constant", "per-request"),
        pytest.param(8, "exponential", "per-request", marks=pytest.mark.slow),
        pytest.param(1, "exponential", "per-request", marks=pytest.mark.slow),
        pytest.param(8, "constant", "reuse", marks=pytest.mark.slow),
    ],
)
def test_an_honest_run_passes(concurrency: int, thinking: str, connection: str) -> None:
    judgement = verdicts(a_run(load=load(concurrency, thinking), connection=connection))
    assert {name: judgement[name] for name in (LITTLE, OFFERED, FLIGHT, OWN)} == dict.fromkeys(
        (LITTLE, OFFERED, FLIGHT, OWN), "pass"
    )
    assert "fail" not in judgement.values()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("concurrency", "share", "connection"), [(1, 0.85, "reuse"), (8, 0.85, "reuse"), (8, 0.75, "per-request")]
)
def test_a_clock_that_stops_early_is_found_behind_the_rests(concurrency: int, share: float, connection: str) -> None:
    """The rest begins when the reply is really there."""
    run = a_run(load=load(concurrency), connection=connection, spoil=clock_that_stops_at(share))
    assert {result.verdict for result in of(run, LITTLE)} == {"fail"}


def test_requests_that_are_sent_late_are_less_load_and_no_latency() -> None:
    def late(draft: Any) -> None:
        """Timers that oversleep by half a millisecond: each worker's round takes so much longer."""
        rows = draft.columns
        measured = np.flatnonzero(rows["phase"] == 1)
        for worker in np.unique(rows["connection"]):
            mine = measured[rows["connection"][measured] == worker]
            mine = mine[np.argsort(rows["sent_ns"][mine])]
            for name, more in (("intended_ns", 0), ("sent_ns", 1), ("received_ns", 1)):
                rows[name][mine] += (np.arange(mine.size) + more) * MS // 2
        order = np.argsort(rows["received_ns"], kind="stable")
        draft.columns = {name: values[order] for name, values in rows.items()}
        for clock in ("wall_ns", "monotonic_ns"):
            draft.done["anchor_end"][clock] += int(1e9)

    run = a_run(load=load(8, "constant"), spoil=late)
    judgement = verdicts(run)
    assert (judgement[OFFERED], judgement[LITTLE]) == ("warn", "pass")
    assert all((cell.distribution.median or 9) < 1 for cell in summarise(run).cells if cell.distribution)
