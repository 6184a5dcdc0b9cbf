"""When a run warns of the congestion control in force, and what the conditions say of clocks."""

from __future__ import annotations

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
