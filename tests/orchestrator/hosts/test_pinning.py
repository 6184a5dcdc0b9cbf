from __future__ import annotations

import os

from orchestrator.hosts.pinning import choose, on_this_machine, pinning_facts


def test_apart_takes_two_cpus():
    pinning = choose("apart", [0, 1], can_pin=True)
    assert (pinning.responder, pinning.requester, pinning.warning) == ("0", "1", None)


def test_further_requester_processes_get_the_other_cpus_those_of_other_cores_first():
    siblings = [frozenset({0, 4}), frozenset({1, 5}), frozenset({2, 6})] * 2
    pinning = choose("apart", [0, 1, 2, 4, 5, 6], can_pin=True, siblings=siblings)
    assert (pinning.requester, pinning.more) == ("1", ("2", "5", "6"))
    assert choose("apart", [0, 1], can_pin=True).more == choose("together", [0, 1], can_pin=True).more == ()


def test_a_system_that_cannot_pin_goes_on_with_a_warning():
    pinning = choose("apart", [0, 1], can_pin=False)
    assert pinning.requester is None
    assert "cannot pin" in str(pinning.warning)


def test_this_machine_pins_only_to_cpus_that_may_be_used():
    pinning = on_this_machine("together")
    assert pinning.requester is None or int(pinning.requester) in os.sched_getaffinity(0)


def test_a_manifest_names_the_cpus_and_each_warning_once():
    alone = choose("apart", [0], can_pin=True)
    assert pinning_facts({"a": alone, "b": alone}) == {
        "requester_cpus": "0",
        "responder_cpus": "0",
        "warnings": [alone.warning],
    }
