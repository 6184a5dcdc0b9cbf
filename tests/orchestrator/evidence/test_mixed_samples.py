"""A mix: each of its operations by itself and all in sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.findings.summary import RunSummary
from orchestrator.summarise import summarise
from services.python.contract.lines import STATUSES
from tests.support.drafts import Draft
from tests.support.judged import of
from tests.support.mixes import MIX
from tests.support.runs import a_run


def mixed_run(spoil: Any = None, **planned: Any) -> Any:
    return a_run(operation=MIX, spoil=spoil, **planned)


@pytest.fixture(scope="module")
def summary() -> RunSummary:
    return summarise(mixed_run())


def test_each_operation_has_its_own_figures(summary: RunSummary) -> None:
    for cell in summary.cells:
        add, echo = cell.details.mixed
        assert (add.label, echo.label) == ("add", "echo 1 kB")
        assert (add.share, echo.share) == (0.8, 0.2)
        assert add.drawn == pytest.approx(0.8, abs=0.03)
        assert add.drawn + echo.drawn == pytest.approx(1)
        assert add.requests + echo.requests == cell.counts.requests == 5000
        assert echo.distribution.median == pytest.approx(2 * add.distribution.median, rel=0.05)  # so they were drawn
        assert echo.median_interval[0] < echo.distribution.median < echo.median_interval[1]
        assert (add.body_bytes, echo.body_bytes) == ((28, 28), (1020, 1020))
        assert add.throughput_per_s + echo.throughput_per_s == pytest.approx(cell.throughput_per_s)


def test_processes_draw_by_seeds_of_their_own() -> None:
    run = mixed_run(calls=[{"connection": "reuse", "processes": 2}], load=p.Load(requests=1000, concurrency=2))
    (cell, *_) = summarise(run).cells
    assert sum(part.requests for part in cell.details.mixed) == cell.counts.requests


def test_failed_requests_count_for_their_operation_alone() -> None:
    def spoil(draft: Draft) -> None:
        failed = np.flatnonzero((draft.columns["parent"] == 2) & (draft.columns["phase"] == 1))[:5]
        draft.columns["status"][failed] = STATUSES.index("closed")
        draft.done["errors"] = {"closed": 5}
        draft.done["verified"] -= 5

    for cell in summarise(mixed_run(spoil)).cells:
        add, echo = cell.details.mixed
        assert (add.errors, add.failed, echo.errors, echo.failed) == ({}, 0, {"closed": 25}, 25)
        assert add.distribution.failed == 0
        assert echo.distribution.failed == 25
        assert "maximum" in echo.distribution.censored
        assert cell.counts.errors == {"closed": 25}


def test_what_was_not_sent_is_counted_by_operation() -> None:
    def spoil(draft: Draft) -> None:
        last = np.flatnonzero(draft.columns["phase"] == 1)[-20:]
        draft.columns["status"][last] = STATUSES.index("not-sent")
        draft.done["requests"] -= 20
        draft.done["verified"] -= 20
        draft.done["not_sent"] = 20

    load = p.Load(rate_per_s=500, requests=1000, concurrency=8)
    for cell in summarise(mixed_run(spoil, load=load)).cells:
        assert sum(part.not_sent for part in cell.details.mixed) == cell.counts.not_sent == 100
        assert cell.details.mixed[0].not_sent > cell.details.mixed[1].not_sent


def test_an_impossible_reply_of_one_operation_is_found() -> None:

    def spoil(draft: Draft) -> None:
        quick = np.flatnonzero((draft.columns["parent"] == 2) & (draft.columns["phase"] == 1))[3]
        draft.columns["received_ns"][quick] = draft.columns["sent_ns"][quick] + 2_000

    (worst, *_) = of(mixed_run(spoil), "floor")
    assert worst.verdict == "fail"
