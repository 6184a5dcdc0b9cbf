"""A stack may name a responder that runs already: one address, looked up once, and nothing about it is assumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.plan.contrasts import (
    announcements,
    behind_loopback,
)
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import Known, Write, problems

ADDRESSES = {"localhost": "127.0.0.1", "there": "198.18.0.9"}
HEAD = "name: example\nquestion: Which is quicker?\noperations: timestamp\n"


@pytest.fixture(autouse=True)
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every name that was asked for, in order."""
    asked: list[str] = []

    def resolve(host: str) -> str:
        asked.append(host)
        return "127.0.0.1" if host == "localhost" else "198.18.0.9"

    monkeypatch.setattr("orchestrator.experiment.plan.placements.resolve", resolve)
    return asked


def planned(write: Write, known: Known, stacks: str, more: str = "") -> Plan:
    return make_plan(write(f"{HEAD}stacks: {stacks}\n{more}"), known=known)


BESIDE_OURS = "[{protocol: rest, responder: fastapi}, {protocol: rest, external: 'localhost:80'}]"


def test_who_answers_behind_a_loopback_address_is_not_known(write, known):
    told = "rest (external) at a loopback address; who answers behind it is not known"
    plan = planned(write, known, BESIDE_OURS)
    assert behind_loopback(plan.stacks) == told
    assert told in "\n".join(plan_lines(plan, plan_document(plan, Path("plan.json")) | {"terraform": None}))
    assert behind_loopback(planned(write, known, "{protocol: rest, external: 'there:80'}").stacks) == ""
    assert behind_loopback(planned(write, known, "rest").stacks) == ""


def test_one_that_does_not_say_who_it_is_has_to_be_declared(write, known):
    stack = "{protocol: rest, external: {address: 'localhost:80', identity: none}}"
    (external,) = [stack.external for stack in planned(write, known, stack).stacks]
    assert external is not None
    assert external.is_anonymous


REFUSED = {
    "another provider": (
        "{protocol: rest, external: 'localhost:80'}",
        "provider: lab\n",
        "provider lab makes its own hosts, which need not reach this address; only `provider: local` asks a responder"
        " that runs already.",
    ),
    "a responder's name": (
        "{protocol: rest, responder: fastapi, external: 'localhost:80'}",
        "",
        "a responder that runs already answers one protocol, by an implementation that orch does not know: name the"
        " protocol, and no `responder`.",
    ),
    "no address": ("{protocol: rest, external: {identity: none}}", "", "'address' is missing. HOST:PORT"),
    "nothing at all": ("{protocol: rest, external: {}}", "", "'address' is missing. HOST:PORT"),
    "a misspelt key": (
        "{protocol: rest, external: {adress: 'a:1'}}",
        "",
        "unknown key 'adress' in external. Did you mean address?",
    ),
    "every protocol": ("{protocol: all, external: 'localhost:80'}", "", "name the protocol, and no `responder`."),
    "two distances": (
        "[{protocol: rest, external: 'there:80'}, grpc]",
        "",
        "it answers from this machine, another stack from 198.18.0.9",
    ),
    "a near one beside a far one": (
        "[{protocol: rest, external: 'there:80'}, {protocol: grpc, external: 'localhost:80'}]",
        "",
        "it answers from this machine, another stack from 198.18.0.9",
    ),
    "a place on this machine": (
        "{protocol: rest, external: 'there:80'}",
        "placements: local\n",
        "the responders run already, on another machine",
    ),
    "a distance that it has": (
        "{protocol: rest, external: 'there:80'}",
        "placements: {name: far, rtt: 80ms}\n",
        "the responders run already, on another machine",
    ),
    "the same CPU": (
        "{protocol: rest, external: 'localhost:80'}",
        "pin: together\n",
        "orch cannot pin a responder that it does not start",
    ),
    "what it cannot be told": (
        "{protocol: rest, external: 'localhost:80'}",
        "compression: gzip\n",
        "rest cannot do compression: gzip: the responder runs already, and orch tells it nothing",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_asked_of_a_responder_that_runs_already_is_refused_with_the_reason(write, known, case):
    stacks, more, reason = REFUSED[case]
    assert any(reason in problem for problem in problems(write(f"{HEAD}stacks: {stacks}\n{more}"), known))


@pytest.mark.parametrize("host", ["0.0.0.0", "224.0.0.1", "255.255.255.255"])  # noqa: S104 - what is refused
def test_an_address_of_nobody_or_of_many_is_refused(write, known, monkeypatch, host):
    monkeypatch.undo()
    found = problems(write(f"{HEAD}stacks: {{protocol: rest, external: '{host}:80'}}\n"), known)
    assert len(found) == 1
    assert found[0].endswith(f"{host} is {host}, which is no address of one host.")


def test_a_plan_says_to_whom_requests_will_go_and_how_many(write, known):
    load = "load: {requests: 100}\nwarmup: {requests: 10, at_least: 0s}\nrepeats: 3\n"
    plan = planned(write, known, "[{protocol: rest, external: 'localhost:80'}, grpc]", load)
    assert announcements(plan) == [
        "rest (external): about 330 requests go to localhost:80 (127.0.0.1), which runs already; orch starts nothing"
        " there, and ends nothing"
    ]
    assert announcements(planned(write, known, "grpc", load)) == []


@pytest.mark.parametrize(
    "stacks",
    [
        "{protocol: rest, external: 'localhost:80'}",
        "[{protocol: rest, external: '127.0.0.1:80'}, grpc]",
        "[{protocol: rest, external: 'there:80'}, {protocol: grpc, external: 'there:81'}]",
    ],
)
def test_a_plan_with_a_given_responder_is_stored_and_read_back(write, known, monkeypatch, stacks):
    monkeypatch.setattr("orchestrator.experiment.plan.placements.resolve", lambda h: h if "." in h else ADDRESSES[h])
    plan = planned(write, known, stacks, "control: true\n")
    document = json.loads(json.dumps(plan.to_dict()))
    assert read_plan(document) == plan
