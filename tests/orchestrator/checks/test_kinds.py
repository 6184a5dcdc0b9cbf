"""What a check judges: kinds of work, transports without TCP, and rows of each phase."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.checks import injections
from orchestrator.checks import run_checks
from orchestrator.checks.base import Check, passes
from orchestrator.evidence.collect import collect
from orchestrator.experiment.plan import plan as p
from orchestrator.wording.checks.sentences import explanation
from tests.support.drafts import Draft
from tests.support.judged import of, verdicts
from tests.support.runs import MS, a_run


def _evidence(kind):
    judgement = collect(a_run(), {})
    return replace(
        judgement, cells=tuple(replace(cell, cell=replace(cell.cell, kind=kind)) for cell in judgement.cells)
    )


def test_a_check_is_given_no_cell_of_another_kind_and_has_not_passed(monkeypatch):
    given = []

    def judge(cell):
        given.append(cell)
        return passes("good", {})

    picky = Check(name="picky", severity="note", kinds=frozenset({"call", "task"}), judge=judge)
    monkeypatch.setattr("orchestrator.checks.CHECKS", (picky,))
    evidence = _evidence("codec")
    results = run_checks(evidence)
    assert not given
    assert {result.cell for result in results} == {cell.cell.id for cell in evidence.cells}
    assert {result.verdict for result in results} == {"not applicable"}
    assert explanation(results[0]) == "This check applies to calls and tasks; this cell measures a codec alone."


WEST = p.Placement(id="west", name="west", kind="cross-region", from_zone="a", to_zone="b", link=p.Link(rtt_ms=30.0))
HERE = p.Placement(id="local", name="local", kind="local")
HTTP_3 = {"tls": "tls1.3", "http": "3"}


def over_http_3(connection: str = "reuse", **more: Any) -> Any:
    return a_run(stacks=("rest",), placements=[HERE, WEST], calls=[{"connection": connection, **HTTP_3}], **more)


def test_one_round_trip_opens_a_connection_and_none_is_impossible() -> None:
    def spoil(draft: Draft) -> None:
        if draft.cell.placement == "west":
            draft.columns["received_ns"] = draft.columns["received_ns"] - 30 * MS

    [*_, far] = of(over_http_3("per-request"), "round-trips")
    assert (far.verdict, far.evidence["expected"]) == ("pass", [2, 2])
    assert verdicts(over_http_3("per-request", spoil=spoil))["round-trips"] == "fail"


@pytest.mark.parametrize("again", [0, 500])
def test_packets_that_the_kernel_counts_of_others_say_nothing(again: int) -> None:
    def spoil(draft: Draft) -> None:
        draft.done["wire"] = None
        for moment, number in (("host_before", 0), ("host_after", again)):
            draft.done[moment] = {**draft.done[moment], "tcp": {"segments_sent": number * 10, "retransmits": number}}

    judgement = of(over_http_3(spoil=spoil), "lost packets")
    assert {result.verdict for result in judgement} == {"cannot tell"}
    assert "QUIC" in explanation(judgement[0])


EIGHT = {"load": p.Load(concurrency=8, requests=4_000)}
OPEN = {"load": p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)}


def the_slowest(inject, count=10):
    return lambda draft: inject(draft, count, np.random.default_rng(1))


@pytest.mark.parametrize("planned", [{}, EIGHT, OPEN, {"connection": "per-request"}])
def test_slow_requests_that_are_entered_as_warm_up_fail(planned):
    (first, *_) = of(a_run(spoil=the_slowest(injections.enter_the_slowest_as_warm_up), **planned), "completeness")
    assert first.verdict == "fail"
    assert "10 warm-up requests fell within the measured phase" in explanation(first)


def test_a_warm_up_that_is_not_over_in_time_fails():
    def spoil(draft):
        rows = draft.columns
        last = np.flatnonzero(rows["phase"] == 0)[-1]
        rows["received_ns"][last] = rows["sent_ns"][rows["phase"] == 1].min() + 1

    assert verdicts(a_run(spoil=spoil))["completeness"] == "fail"
