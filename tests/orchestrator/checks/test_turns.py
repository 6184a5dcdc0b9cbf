"""What checks make of trials in turns: ends that use CPU time out of their turn, and counters that all stacks share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.checks.ends.cpu_time import judge
from orchestrator.checks.network import packets
from orchestrator.results.turn_times import REST_S, TurnTime
from services.python.contract.counters import HostCounters, TcpCounters


def counters(at_s: float, cpu_s: float) -> HostCounters:
    return HostCounters(monotonic_ns=int(at_s * 1e9), process={"cpu_s": cpu_s})


def a_cell(*, responder_s: float, requester_s: float) -> Any:
    """One trial with two turns of a second in four seconds, each with half a second of CPU time."""
    turns = [TurnTime(requests=90, warm_up=10, begin_ns=at, end_ns=at + 10**9, cpu_s=0.45) for at in (10**9, 3 * 10**9)]
    done = SimpleNamespace(host_before=counters(1.0, 1.0), host_after=counters(5.0, 2.0 + requester_s))
    record = SimpleNamespace(index=0, turns=turns, rest_cpu_s=responder_s, requesters=[SimpleNamespace(done=done)])
    return SimpleNamespace(trials=[SimpleNamespace(record=record, called="block 1")])


@pytest.mark.parametrize(
    ("responder_s", "requester_s", "warned"),
    [
        (0.0, 0.0, set()),
        (0.04 * REST_S, 0.04 * 2.0, set()),
        (0.06 * REST_S, 0.0, {"responder"}),
        (0.0, 0.06 * 2.0, {"requester"}),
        (0.5 * REST_S, 2.0, {"responder", "requester"}),
    ],
)
def test_an_end_may_use_a_twentieth_of_a_cpu_while_it_is_idle(
    responder_s: float, requester_s: float, warned: set[str]
) -> None:
    judged = judge(cast("Any", a_cell(responder_s=responder_s, requester_s=requester_s)))
    assert {finding.evidence["end"] for finding in judged} == {"responder", "requester"}
    assert {finding.evidence["end"] for finding in judged if finding.verdict == "warn"} == warned


@pytest.mark.parametrize(("again", "verdict"), [(0, "pass"), (2, "pass"), (40, "cannot tell")])
def test_packets_of_a_host_tell_something_in_turns_only_where_few_were_sent_again(again: int, verdict: str) -> None:
    before, after = (
        HostCounters(tcp=TcpCounters(segments_sent=sent, retransmits=lost)) for sent, lost in ((0, 0), (5000, again))
    )
    done = SimpleNamespace(wire=None, host_before=before, host_after=after, requests=1000)
    record = SimpleNamespace(index=0, turns=("turn",), stats_before=None, stats=None)
    trial = SimpleNamespace(record=record, called="block 1", parts=[SimpleNamespace(host="local", done=done)])
    cell = SimpleNamespace(
        cell=SimpleNamespace(is_over_quic=False),
        placement=SimpleNamespace(kind="local"),
        is_external=False,
        trials=[trial],
        parts=lambda _name: [],
    )
    finding = packets.judge(cast("Any", cell))
    assert finding is not None
    assert finding.verdict == verdict
