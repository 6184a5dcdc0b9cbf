"""What differs between two stacks, as the plan says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.contrasts import PARTS, against_reference, differs_in, parts_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Write

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
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


def test_the_order_is_that_of_the_issue() -> None:
    assert PARTS[:7] == ("codec", "transport", "framework", "validation", "client", "connection", "language")


def test_rest_with_models_against_cbor_is_more_than_a_codec(write: Write) -> None:
    assert told(planned(write, "[rest, cbor]")) == {"cbor": ("codec", "validation")}


def test_on_the_same_framework_with_the_same_client_the_codec_alone_differs(write: Write) -> None:
    stacks = ", ".join(f"{{protocol: {name}, responder: starlette}}" for name in ("json", "cbor", "protobuf"))
    assert told(planned(write, f"[{stacks}]")) == {"cbor": ("codec",), "protobuf": ("codec",)}


def test_grpc_against_rest_differs_in_nearly_all(write: Write) -> None:
    assert told(planned(write, "[rest, grpc]"))["grpc"] == ("codec", "transport", "framework", "validation", "client")


def test_protocol_buffers_in_raw_bodies_against_grpc_share_the_codec(write: Write) -> None:
    found = told(planned(write, "[grpc, {protocol: protobuf, responder: asgi}]"))
    assert found == {"protobuf": ("transport", "framework", "client")}


@pytest.mark.parametrize(
    ("stacks", "parts"),
    [
        ("[{protocol: rest, client: [pycurl, raw]}]", ("client",)),
        ("[{protocol: rest, responder: [flask-gunicorn, starlette]}]", ("framework",)),
        ("[{protocol: graphql, responder: [strawberry, strawberry-cached]}]", ("validation",)),
        ("[{protocol: socketio, client: [socketio, socketio-polling]}]", ("transport", "client")),
        ("[{protocol: grpc, responder: [grpcio, grpcio-parse-only], client: grpcio}]", ("reading",)),
        (
            "[rest, {protocol: rest, responder: flask, connection: per-request}]",
            ("framework", "validation", "connection"),
        ),
    ],
)
def test_each_part_is_named_where_it_differs(write: Write, stacks: str, parts: tuple[str, ...]) -> None:
    (found,) = told(planned(write, stacks)).values()
    assert found == parts


@pytest.mark.parametrize(
    ("operation", "parts"),
    [
        ("add", ()),
        ("{echo: {records: 3}}", ()),
        ("{echo: {bytes: 100 B}}", ("codec",)),
        ("{image: {bytes: 2 kB}}", ("codec",)),
    ],
)
def test_how_bytes_travel_is_a_difference_only_where_bytes_do(
    write: Write, operation: str, parts: tuple[str, ...]
) -> None:
    stacks = "[{protocol: rest, responder: starlette}, {protocol: json, responder: starlette}]"
    text = MINIMAL.replace("[rest, grpc]", stacks).replace("operations: timestamp", f"operations: [{operation}]")
    assert told(make_plan(write(text), known=protocols())) == {"json": parts}


def test_no_two_stacks_of_the_catalogue_have_the_same_parts() -> None:
    """A difference that no part names would pass for none."""
    seen: dict[tuple[str, ...], str] = {}
    for protocol in protocols().values():
        for responder in protocol.responders:
            for client in protocol.clients:
                parts = tuple(parts_of(responder, client).values())
                name = f"{protocol.name} {responder.name} {client.name}"
                assert seen.setdefault(parts, name) == name


def test_an_end_in_another_language_is_a_part_that_differs() -> None:
    rest = protocols()["rest"]
    here = parts_of(rest.responder(), rest.client("raw"))
    elsewhere = replace(rest.responder(), language=replace(rest.responder().language, title="Go"))
    there = parts_of(elsewhere, rest.client("raw"))
    assert there["language"] == "Go, asked in Python"
    assert differs_in(here, there) == ("language",)


def test_a_control_differs_in_nothing_and_is_not_named(write: Write) -> None:
    assert told(planned(write, "[rest, cbor]", "control: true\n")).keys() == {"cbor"}


def test_like_for_like_varies_the_codec_and_nothing_else() -> None:
    found = told(make_plan(EXPERIMENTS / "like_for_like.yaml"))
    assert found == dict.fromkeys(("cbor", "msgpack", "avro", "protobuf"), ("codec",))


def test_framework_only_varies_no_part_of_the_protocol() -> None:
    found = told(make_plan(EXPERIMENTS / "framework_only.yaml"))
    assert found == {
        "json (starlette)": ("framework",),
        "json (fastapi)": ("framework",),
        "json (fastapi-models)": ("framework", "validation"),
        "json (flask-gunicorn)": ("framework",),
    }
