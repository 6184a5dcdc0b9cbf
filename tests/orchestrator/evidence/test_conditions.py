"""When a run warns of the congestion control in force, and what the conditions say of clocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.findings.summary import RunSummary
from orchestrator.summarise import summarise
from tests.support.drafts import Draft
from tests.support.runs import a_plan, a_run

FAR = p.Placement(id="far", name="far", kind="cross-region", from_zone="a-a", to_zone="b-b", link=p.Link(rtt_ms=20.0))
HERE = p.Placement(id="local", name="local", kind="local")
NAME = "congestion control"


def summary(place: p.Placement, responder: str | None, requester: str | None, **call: str) -> RunSummary:
    def spoil(draft: Draft) -> None:
        draft.ready["settings"] = {} if responder is None else {NAME: responder}
        draft.done["settings"] = {} if requester is None else {NAME: requester}

    calls = [{"connection": "reuse", **call}]
    return summarise(a_run(a_plan(placements=[place], calls=calls, blocks=3), spoil=spoil))


@pytest.mark.parametrize(("wanted", "is_warned"), [("bbr", False), ("cubic", True)])
def test_a_run_warns_where_another_was_in_force_than_was_wanted(wanted: str, is_warned: bool) -> None:
    warned = [text for text in summary(FAR, "bbr", "bbr", congestion=wanted).warnings if "not in force" in text]
    assert bool(warned) is is_warned


def test_the_offsets_of_own_hosts_clocks_are_stated_with_their_errors() -> None:
    run = a_run(a_plan(placements=[HERE], blocks=3))
    clocks = {"requester": {"ahead_ms": 0.25, "error_ms": 0.1}, "requester-2": {"ahead_ms": -12.0, "error_ms": 0.125}}
    stored = replace(run.stored, fleet={**run.stored.fleet, "clocks": clocks})
    stated = dict(summarise(replace(run, stored=stored)).conditions)["Clocks, ahead of orch's"]
    assert stated == "requester +0.250 ± 0.100 ms, requester-2 -12.000 ± 0.125 ms"
