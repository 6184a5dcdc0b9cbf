"""What differs between two stacks, as the plan says it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.parts import PARTS, differs_in, parts_of

VALUES = some.dictionaries(some.sampled_from(PARTS), some.sampled_from("ab"))


@given(VALUES, VALUES)
def test_what_differs_is_named_in_one_order_from_either_side(one: dict[str, str], other: dict[str, str]) -> None:
    found = differs_in(one, other)
    assert found == differs_in(other, one)
    assert list(found) == sorted(found, key=PARTS.index)
    named = (one.keys() & other.keys()) | {"service"}  # of this one side may know nothing
    assert set(found) == {name for name in named if one.get(name) != other.get(name)}
    assert differs_in(one, one) == ()


def test_no_two_stacks_of_the_catalogue_have_the_same_parts() -> None:
    """A difference that no part names would pass for none."""
    seen: dict[tuple[str, ...], str] = {}
    for protocol in protocols().values():
        for responder in protocol.responders:
            for client in protocol.clients:
                parts = tuple(parts_of(responder, client).values())
                name = f"{protocol.name} {responder.name} {client.name}"
                assert seen.setdefault(parts, name) == name
