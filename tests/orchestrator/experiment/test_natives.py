"""`client: native`: the first compiled client that can be started here, and the refusal where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.catalogue import read
from orchestrator.catalogue.offers import Protocol
from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan import topology
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import Write, problems

TEXT = """\
name: example
question: Which is quicker?
stacks:
  - {protocol: rest, client: [native, slow]}
operations: timestamp
"""
FIRST = ["first", "slow"]


@pytest.fixture
def known() -> dict[str, Protocol]:
    """REST with two compiled clients, of languages of their own, and one that is none."""
    rest = protocols()["rest"]
    like = rest.client("pycurl")
    clients = tuple(
        replace(like, name=name, native=native, language=replace(like.language, name=name))
        for name, native in (("second", 20), ("first", 10), ("slow", None))
    )
    return {"rest": replace(rest, clients=clients, sequential="slow", concurrent="slow"), "tcp": protocols()["tcp"]}


@pytest.mark.parametrize(
    ("unusable", "clients", "reason"),
    [
        ((), FIRST, "`native` in the experiment"),
        (("first",), ["second", "slow"], "`native` in the experiment; not first (it is not built)"),
    ],
)
def test_the_first_that_can_be_started_is_taken(
    write: Write,
    known: dict[str, Protocol],
    monkeypatch: pytest.MonkeyPatch,
    unusable: tuple[str, ...],
    clients: list[str],
    reason: str,
) -> None:
    built = dict.fromkeys(unusable, "it is not built")
    monkeypatch.setattr(topology, "_usable", lambda language, *_: (built.get(language.name, ""), None))
    text = TEXT.replace("operations: timestamp", "operations: [timestamp, add]\ncompare_by: client\nreference: native")
    plan = make_plan(write(text + "exclude: [{client: native, operation: add}]\n"), known=known)
    assert [(cell.factors["client"], cell.operation) for cell in plan.cells] == [
        (clients[0], "timestamp"),
        ("slow", "timestamp"),
        ("slow", "add"),
    ]
    assert plan.contrasts[0].references == (clients[0],)
    assert plan.resolved[f"rest-asgi-{clients[0]}"]["client_reason"] == reason


def test_where_none_is_built_the_reasons_are_at_its_place(
    write: Write, known: dict[str, Protocol], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topology, "_usable", lambda language, *_: (f"no {language.name}", None))
    assert problems(write(TEXT), known)[0] == (
        "4:30: no compiled client of rest can be started: first (no first), second (no second). Name another."
    )


def test_every_language_whose_programs_are_started_themselves_says_which_of_its_clients_are_native() -> None:
    """A new client of such a language that says nothing is left out of `native` by mistake."""
    for protocol in read.catalogue().protocols.values():
        for client in protocol.clients:
            language = client.language
            is_compiled = bool(language.build) and language.start["request"][0].startswith("{folder}/")
            assert (client.native is not None) == is_compiled, f"{protocol.name}: {client.name}"
