"""Closed loops with think time: what is a latency, and that the checks see through the rests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from services.python.contract.lines import STATUSES
from tests.support.judged import of, verdicts
from tests.support.made_up import clock_that_stops_at
from tests.support.runs import MS, US, a_run

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
    found = verdicts(a_run(load=load(concurrency, thinking), connection=connection))
    assert {name: found[name] for name in (LITTLE, OFFERED, FLIGHT, OWN)} == dict.fromkeys(
        (LITTLE, OFFERED, FLIGHT, OWN), "pass"
    )
    assert "fail" not in found.values()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("concurrency", "share", "connection"), [(1, 0.85, "reuse"), (8, 0.85, "reuse"), (8, 0.75, "per-request")]
)
def test_a_clock_that_stops_early_is_found_behind_the_rests(concurrency: int, share: float, connection: str) -> None:
    """The rest begins when the reply is really there."""
    run = a_run(load=load(concurrency), connection=connection, spoil=clock_that_stops_at(share))
    assert {result.verdict for result in of(run, LITTLE)} == {"fail"}


@pytest.mark.parametrize("thinking", ["constant", "exponential"])
def test_rests_that_are_too_short_are_found(thinking: Any) -> None:
    def hurries(draft: Any) -> None:
        """Every request of a worker after its first is due 100 us sooner."""
        rows = draft.columns
        measured = rows["phase"] == 1
        late = measured & (rows["sequence"] > rows["sequence"][measured].min() + 8)
        for name in ("intended_ns", "sent_ns", "received_ns"):
            rows[name][late] -= 100 * US

    found = of(a_run(load=load(8, thinking), spoil=hurries), OFFERED)
    assert {result.verdict for result in found} == {"fail"}
    assert "before the think time that the trial's seed gives was over" in found[0].explanation


def test_a_rest_that_is_left_out_after_a_connection_broke_is_found() -> None:
    """The next request goes over another connection, so that nobody knows whose it was."""

    def leaves_out(draft: Any) -> None:
        rows = draft.columns
        measured = np.flatnonzero(rows["phase"] == 1)
        broken = measured[200]
        mine = measured[rows["connection"][measured] == rows["connection"][broken]]
        after = mine[rows["sent_ns"][mine] > rows["sent_ns"][broken]]
        shift = rows["intended_ns"][after[0]] - rows["received_ns"][broken] - 5 * US
        for name in ("intended_ns", "sent_ns", "received_ns"):
            rows[name][after] -= shift
        rows["connection"][after] = 8
        rows["status"][broken] = STATUSES.index("closed")
        draft.done |= {"errors": {"closed": 1}, "verified": draft.done["verified"] - 1, "connections_opened": 1}
        order = np.argsort(rows["received_ns"], kind="stable")
        draft.columns = {name: values[order] for name, values in rows.items()}

    found = of(a_run(load=load(8, "constant", 0.05), spoil=leaves_out), OFFERED)
    assert {result.verdict for result in found} == {"fail"}


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
    found = verdicts(run)
    assert (found[OFFERED], found[LITTLE]) == ("warn", "pass")
    assert all((cell.distribution.median or 9) < 1 for cell in summarise(run).cells if cell.distribution)
