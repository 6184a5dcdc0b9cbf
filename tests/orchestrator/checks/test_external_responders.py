"""A responder that orch did not start tells it nothing: what would rest on its word is not known, and never a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.between_runs.environments import are_alike, changes
from orchestrator.experiment.plan.plan import External, Link, Placement, Plan
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.left_out import waiting
from tests.support.drafts import longer
from tests.support.judged import of, verdicts
from tests.support.runs import Draft, MemoryRun, a_plan, a_run

CALL = {"kind": "http", "expect": {"status": [200]}}
GIVEN = External(given="localhost", host="127.0.0.1", port=8001, call=CALL)
FAR = Placement(id="external", name="external", kind="external", link=Link(rtt_ms=20.0))


def planned(external: External | None = GIVEN, **changes) -> Plan:
    plan = a_plan(**changes)
    return replace(plan, stacks=(replace(plan.stacks[0], external=external), *plan.stacks[1:]))


def run_of(plan: Plan, **made) -> MemoryRun:
    """A clean run; who answers the first stack ran already and says nothing, so that no floor stands there either."""
    run = a_run(plan, **made)
    given = {cell.id for cell in plan.cells if cell.stack == plan.stacks[0].id} if plan.stacks[0].external else set()
    trials = [
        replace(trial, ready=None, stats=None, stats_before=None, stats_warm=None) if trial.cell in given else trial
        for trial in run.stored.trials
    ]
    baselines = [replace(b, cells=tuple(c for c in b.cells if c not in given)) for b in run.stored.baselines]
    kept = tuple(b for b in baselines if b.kind == "ping" or b.cells)
    return replace(run, stored=replace(run.stored, trials=tuple(trials), baselines=kept))


def alone(external: External | None = GIVEN, *, spoil=None, **changes) -> MemoryRun:
    return run_of(planned(external, stacks=("rest",), **changes), spoil=spoil)


def far(**changes) -> MemoryRun:
    return alone(External(given="there", host="198.18.0.9", port=80, call=CALL), placements=[FAR], **changes)


BY_THE_RESPONDERS_WORD = ("completeness", "connections", "responder's core", "noise")


@pytest.mark.parametrize("check", BY_THE_RESPONDERS_WORD)
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_what_rests_on_the_responders_word_passes_with_ours_and_cannot_be_told_with_another(check, connection):
    launched, given = (alone(external, connection=connection) for external in (None, GIVEN))
    assert verdicts(launched)[check] == "pass"
    assert verdicts(given)[check] == "cannot tell"
    assert any("a service of your own" in explanation(result) for result in of(given, check))


def a_connection_each(draft: Draft) -> None:
    """Every request opens one."""
    draft.columns["connection"] = draft.columns["sequence"]
    draft.done["connections_opened"] = len(draft.columns["sequence"])


@pytest.mark.parametrize(("call", "verdict"), [(CALL, "fail"), ({**CALL, "events": True}, "warn")])
def test_streams_that_are_left_early_cost_their_connections(call, verdict):
    (result,) = of(alone(replace(GIVEN, call=call), spoil=a_connection_each), "connections")
    assert result.verdict == verdict


@pytest.mark.parametrize(("sent_each", "verdict"), [(3, "warn"), (2, "pass")])
def test_a_wait_for_acknowledgements_shows_by_the_packets_that_the_requester_sends(sent_each, verdict):
    def waits(draft: Draft) -> None:
        longer(draft, 43_500_000)
        requests = draft.done["requests"]
        draft.done["wire"] |= {"segments_sent": sent_each * requests, "bytes_received": 166 * requests}

    run = alone(spoil=waits)
    (result,) = of(run, "latency modes")
    assert result.verdict == verdict
    assert ("waits, and not for work" in waiting(summarise(run))) is (verdict == "warn")


def test_round_trips_are_not_counted_against_a_ping_that_another_may_have_answered():
    (result,) = of(far(), "round-trips")
    assert result.verdict == "cannot tell"
    assert "does not measure a service of your own on one host" in explanation(result)


@pytest.mark.parametrize("made", [far, alone])
def test_the_floor_passes_by_the_sockets_own_round_trip_and_never_by_a_ping(made):
    def no_socket(draft: Draft) -> None:
        draft.done["min_rtt_us"] = None

    (with_socket,), (without,) = of(made(), "floor"), of(made(spoil=no_socket), "floor")
    assert (with_socket.verdict, with_socket.evidence["bound"]) == ("pass", "TCP_INFO min_rtt")
    assert without.verdict == "cannot tell"
    assert explanation(without).startswith("No socket round trip was measured with this cell")
    (ours,) = of(alone(None, spoil=no_socket), "floor")
    assert ours.verdict == "pass"


def test_a_reply_quicker_than_tcps_own_round_trip_is_impossible_with_any_responder():
    def impossible(draft: Draft) -> None:
        draft.done["min_rtt_us"] = 60_000

    assert verdicts(far(spoil=impossible))["floor"] == "fail"


@pytest.mark.parametrize(("expect", "verdict"), [({"status": [200]}, "pass"), ({}, "cannot tell")])
def test_replies_are_right_where_the_call_says_what_it_expects(expect, verdict):
    (result,) = of(alone(replace(GIVEN, call={"kind": "http", "expect": expect})), "reply")
    assert result.verdict == verdict
    assert ("was not checked" in explanation(result)) is (verdict == "cannot tell")


def test_wrong_replies_fail_with_any_responder():
    def wrong(draft: Draft) -> None:
        draft.columns["status"][draft.columns["phase"] == 1] = 1
        draft.done["errors"] = {"wrong-reply": draft.done["requests"]}

    assert verdicts(run_of(planned(), spoil=wrong))["reply"] == "fail"


def test_two_runs_are_never_taken_for_equal_and_a_comparison_says_why():
    new, old = summarise(run_of(planned())), summarise(run_of(planned(), seed=2))
    ours = summarise(a_run())
    assert are_alike(ours.to_dict(), ours.to_dict())
    assert not are_alike(new.to_dict(), old.to_dict())
    assert changes(ours, ours) == []
    assert changes(new, old) == [
        "what answered was not started by orch, and may have changed (127.0.0.1:8001; version, CPU and settings are not"
        " known)"
    ]
