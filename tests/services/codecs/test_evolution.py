"""Records that one schema wrote and another reads: each outcome below comes from coding them, in every format."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from services.python.codecs import alone
from services.python.codecs.evolution import Failed, Outcomes, outcome, schemas
from services.python.contract.limits import SCHEMA_CHANGES, SchemaChange
from services.python.contract.lines import Load, Payload, Target
from services.python.contract.offers import find_protocol, protocols
from services.python.load.client import CallSpec
from services.python.operations import OPERATIONS
from services.python.trial.parts import CannotTry
from tests.support.ends import made_here, trial_of

EVOLUTION = OPERATIONS["evolution"]
CODECS = [(p.name, c.name) for p in protocols().values() for c in p.clients if c.kind == "codec" and not c.refuses]
HANDED_OVER = {
    "added": "absent",
    "renamed": "lost silently",
    "renamed-without-alias": "lost silently",
    "retyped": "wrong type: int",
}
WANTED: dict[str, dict[str, str]] = {
    "http+avro": {
        "added": "default: 'unknown'",
        "renamed-without-alias": "fails: SchemaResolutionError: No default value for field amount",
        "retyped": "fails: SchemaResolutionError",
    },
    "http+protobuf": {"added": "default: ''", "renumbered": "lost silently", "retyped": "lost silently"},
    "graphql": {
        "added": "fails: QueryRefused: Cannot query field 'note'",
        "renamed-without-alias": "fails: QueryRefused: Cannot query field 'amount'",
        "retyped": "wrong type: int",
    },
}


def exchanged(protocol: str, client: str, change: SchemaChange) -> tuple[Any, Any]:
    """An exchange, and what came of it through that codec."""
    payload = Payload(kind="evolution", count=7, schema_change=change)
    exchange = alone.exchanges(EVOLUTION, EVOLUTION.requests(payload, 1))(1, lambda: 0)
    spec = find_protocol(protocol).client(client)
    call = CallSpec(host="", port=0, operation="evolution", timeout_s=1, example=exchange)
    connection = importlib.import_module(spec.module).dialer(call, spec).dial()
    return exchange, connection.value(connection.call(exchange))


@pytest.mark.parametrize("change", SCHEMA_CHANGES)
@pytest.mark.parametrize(("protocol", "client"), CODECS)
def test_what_comes_of_a_change(protocol: str, client: str, change: SchemaChange) -> None:
    exchange, decoded = exchanged(protocol, client, change)
    verify = Outcomes()
    assert verify(exchange, decoded) is None
    [found] = verify.outcomes
    assert found.startswith(WANTED.get(protocol, HANDED_OVER).get(change, "right value"))


def test_a_reader_has_the_fields_of_its_own_schema_where_a_format_has_schemas() -> None:
    for protocol, client in (("http+avro", "fastavro"), ("http+protobuf", "protobuf"), ("graphql", "stdlib")):
        for change in ("removed", "renamed"):
            _, decoded = exchanged(protocol, client, change)
            names = {field.name for field in schemas(change)[1]}
            assert all(record.keys() == names for record in decoded["reply"]["records"])


WROTE = [{"id": 1, "name": "kelp", "value": 0.5, "active": True, "tags": []}]


@pytest.mark.parametrize(
    ("change", "came", "wanted"),
    [
        ("none", {}, "right value"),
        ("none", {"active": 1}, "another field is wrong"),
        ("added", {"note": "?"}, "wrong value"),
        ("removed", {"name": "lagoon"}, "another field is wrong"),
        ("renumbered", {"name": "lagoon"}, "wrong value"),
        ("renumbered", {"name": ""}, "lost silently"),
        ("renumbered", {"name": b"kelp"}, "wrong type: bytes"),
        ("retyped", {"id": "1"}, "right value"),
        ("retyped", {"id": "2"}, "wrong value"),
        ("widened", {"id": 1.0}, "wrong type: float"),
    ],
)
def test_an_outcome_is_by_the_value_that_the_reader_has(change: SchemaChange, came: Any, wanted: str) -> None:
    assert outcome(change, WROTE, [{**WROTE[0], **came}]) == wanted


def test_an_outcome_unlike_the_first_one_is_a_wrong_reply() -> None:
    exchange, decoded = exchanged("http+json", "stdlib", "none")
    verify = Outcomes()
    assert verify(exchange, decoded) is None
    reply = {**decoded["reply"], "records": Failed("no")}
    assert "fails: no" in (verify(exchange, {**decoded, "reply": reply}) or "")
    assert verify.outcomes == {"right value": 1, "fails: no": 1}


def made(folder: Path, protocol: str, client: str, target: Target | None = None) -> Any:
    payload = Payload(kind="evolution", count=3, schema_change="retyped")
    asked = {"target": target, "operation": "evolution", "payload": payload, "load": Load(requests=20)}
    return made_here(trial_of(protocol, client, 0, folder / "record", **asked))[-1]


def test_a_reader_that_fails_is_a_result_and_no_failed_trial(tmp_path: Path) -> None:
    done = made(tmp_path, "http+avro", "fastavro")
    assert (done.requests, done.verified, done.errors) == (20, 20, {})
    [(found, count)] = done.outcomes.items()
    assert found.startswith("fails: SchemaResolutionError")
    assert count == 26  # the check and the warm-up among them


def test_nobody_can_be_asked_for_it(tmp_path: Path) -> None:
    target = Target(host="127.0.0.1", port=1, identity="x")
    with pytest.raises(CannotTry, match="coded alone"):
        made(tmp_path, "http+json", "raw", target)
    with pytest.raises(CannotTry, match="once it is read"):
        made(tmp_path, "http+protobuf", "protobuf-parse-only")
    assert "evolution" not in find_protocol("rest").operations
