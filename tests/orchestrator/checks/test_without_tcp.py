"""What checks make of HTTP/3, which no TCP carries: nothing passes or fails by counters of connections that are others'."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.experiment.plan import plan as p
from tests.support.drafts import Draft
from tests.support.judged import of, verdicts
from tests.support.runs import MS, a_run

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

    found = of(over_http_3(spoil=spoil), "lost packets")
    assert {result.verdict for result in found} == {"cannot tell"}
    assert "QUIC" in found[0].explanation
