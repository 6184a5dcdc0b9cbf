"""What differs between two stacks, as the plan says it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.contrasts import PARTS, against_reference, differs_in, parts_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Write

VALUES = some.dictionaries(some.sampled_from(PARTS), some.sampled_from("ab"))


def planned(write: Write, stacks: str, more: str = "") -> Plan:
    return make_plan(write(MINIMAL.replace("[rest, grpc]", stacks) + more), known=protocols())


def told(plan: Plan) -> dict[str, tuple[str, ...]]:
    return dict(against_reference(plan))


@given(VALUES, VALUES)
def test_what_differs_is_named_in_one_order_from_either_side(one: dict[str, str], other: dict[str, str]) -> None:
    found = differs_in(one, other)
    assert found == differs_in(other, one)
    assert list(found) == sorted(found, key=PARTS.index)
    assert set(found) == {name for name in one.keys() & other.keys() if one[name] != other[name]}
    assert differs_in(one, one) == ()


@pytest.mark.parametrize(
    ("stacks", "parts"),
    [
        ("[{protocol: rest, client: [pycurl, raw]}]", ("client",)),
        ("[{protocol: rest, responder: [flask-gunicorn, starlette]}]", ("framework",)),
        ("[{protocol: graphql, responder: [strawberry, strawberry-cached]}]", ("validation",)),
        ("[{protocol: socketio, client: [socketio, socketio-polling]}]", ("transport", "client")),
        (
            "[{protocol: rest, responder: fastapi}, {protocol: rest, responder: flask, connection: per-request}]",
            ("framework", "validation", "connection"),
        ),
    ],
)
def test_each_part_is_named_where_it_differs(write: Write, stacks: str, parts: tuple[str, ...]) -> None:
    (found,) = told(planned(write, stacks)).values()
    assert found == parts


def test_no_two_stacks_of_the_catalogue_have_the_same_parts() -> None:
    """A difference that no part names would pass for none."""
    seen: dict[tuple[str, ...], str] = {}
    for protocol in protocols().values():
        for responder in protocol.responders:
            for client in protocol.clients:
                parts = tuple(parts_of(responder, client).values())
                name = f"{protocol.name} {responder.name} {client.name}"
                assert seen.setdefault(parts, name) == name
