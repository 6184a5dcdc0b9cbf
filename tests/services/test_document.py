"""The user's own JSON as a typed message and as `google.protobuf.Value`: every end that has Protocol Buffers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Schema, Target, Trial
from services.python.contract.offers import AS_IT_IS, protocols
from services.python.contract.responder_lines import Serve
from services.python.trial.parts import CannotTry, check, load_parts
from tests.support.documents import schema_file
from tests.support.ends import program, responder
from tests.support.fields import plain_fields
from tests.support.matrix import is_default_responder, others_slow
from tests.support.reading_responder import READS

pytestmark = pytest.mark.busy

DOCUMENT = {
    "__proto__": "x",
    "rows": [{"id": 2**53 + n, "name": f"row {n}", "part": n / 3, "note": None if n % 2 else "é"} for n in range(50)],
    "mixed": [1, "a", None],
}
UNDERLINED = [{"_id": 1, "id": 2, "_a_b": 3}, {"_id": 4, "_links": {"_rev": None}}, {}]
AS_VALUE = {"rows": [row | {"id": n} for n, row in enumerate(DOCUMENT["rows"])]}
WITH = [name for name, protocol in protocols().items() if "document" in protocol.knobs]
WITHOUT = [name for name in protocols() if name not in WITH]
ENDS = [(name, r.name) for name in WITH for r in protocols()[name].responders]
VALUE = {"document": "value"}


def payload(document: Any, folder: Path) -> Payload:
    path = folder / "document.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Payload(kind="json", path=str(path))


def trial(protocol: str, client: str, port: int, asked: Payload, **changes: Any) -> Trial:
    return Trial(
        target=Target(host="127.0.0.1", port=port, identity="nonce"),
        protocol=protocol,
        client=client,
        operation="echo",
        record="",
        payload=asked,
        load=Load(requests=0),
        **changes,
    )


def sizes(asked: Trial) -> tuple[int, int]:
    """Of both bodies of a checked echo."""
    parts = load_parts(asked)
    return check(asked, parts, parts.make(1, lambda: 1))[1]


def test_those_with_protocol_buffers_carry_documents_in_both_ways() -> None:
    assert WITH == ["connect", "grpc", "protobuf"]
    assert protocols()["rest"].lacks("document", "typed") == AS_IT_IS["document"]


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_every_client_gets_a_typed_document_back(tmp_path: Path, protocol: str, implementation: str) -> None:
    asked, schema = payload(DOCUMENT, tmp_path), schema_file(DOCUMENT, tmp_path)
    with responder(protocol, implementation=implementation, schema=schema) as (_, ready):
        for client in [c for c in protocols()[protocol].clients if c.kind == "call"]:
            sent, received = sizes(trial(protocol, client.name, ready["port"], asked, schema=schema))
            assert sent == received < len(json.dumps(DOCUMENT)) / 2


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_keys_may_begin_with_an_underline(tmp_path: Path, protocol: str, implementation: str) -> None:
    asked, schema = payload(UNDERLINED, tmp_path), schema_file(UNDERLINED, tmp_path)
    with responder(protocol, implementation=implementation, schema=schema) as (_, ready):
        assert sizes(trial(protocol, protocols()[protocol].sequential, ready["port"], asked, schema=schema))


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_as_a_value_it_takes_several_times_as_many_bytes(tmp_path: Path, protocol: str, implementation: str) -> None:
    asked, schema = payload(AS_VALUE, tmp_path), schema_file(AS_VALUE, tmp_path)
    client = protocols()[protocol].sequential
    found = []
    for told in ({"schema": schema}, {"knobs": VALUE}, {}):
        with responder(protocol, implementation=implementation, **told) as (_, ready):
            found.append(sizes(trial(protocol, client, ready["port"], asked, **told)))
    typed, value, untold = found
    assert value == untold
    assert value[0] > 2 * typed[0]


@pytest.mark.parametrize("protocol", WITH)
def test_ends_that_were_told_different_things_do_not_understand_each_other(tmp_path: Path, protocol: str) -> None:
    asked, schema = payload(AS_VALUE, tmp_path), schema_file(AS_VALUE, tmp_path)
    client = protocols()[protocol].sequential
    with responder(protocol) as (_, ready), pytest.raises(CannotTry):
        sizes(trial(protocol, client, ready["port"], asked, schema=schema))


@pytest.mark.parametrize("protocol", WITH)
def test_a_compressed_typed_document_is_one_all_the_same(tmp_path: Path, protocol: str) -> None:
    asked, schema = payload(DOCUMENT, tmp_path), schema_file(DOCUMENT, tmp_path)
    told: dict[str, Any] = {"schema": schema, "knobs": {"compression": "gzip"}}
    client = protocols()[protocol].sequential
    with responder(protocol, **told) as (_, ready):
        packed = sizes(trial(protocol, client, ready["port"], asked, **told))
    with responder(protocol, schema=schema) as (_, ready):
        assert packed[0] < sizes(trial(protocol, client, ready["port"], asked, schema=schema))[0]


def refusals(serve: Serve, asked: Trial) -> tuple[str, str]:
    """How a responder and a requester refuse it."""
    with program("services.python.programs.respond") as refusing:
        refusing.send(serve.to_json())
        status, lines, said = refusing.ended_by_itself()
    assert (status, lines) == (1, [])
    with pytest.raises(CannotTry) as refused:
        load_parts(asked)
    assert refused.value.kind == "trial"
    return said, str(refused.value)


@pytest.mark.parametrize("protocol", WITHOUT)
def test_who_has_no_protocol_buffers_refuses_a_schema(tmp_path: Path, protocol: str) -> None:
    schema = schema_file([1], tmp_path)
    offered = protocols()[protocol]
    asked = trial(protocol, offered.sequential, 1, Payload(), schema=schema)
    asked = replace(asked, operation=min(offered.operations))
    for said in refusals(Serve(protocol=protocol, identity="nonce", schema=schema), asked):
        assert f"{protocol} cannot take a schema: {offered.lacks('document', 'typed')}" in said


def test_a_schema_and_the_wish_for_a_value_are_refused_together(tmp_path: Path) -> None:
    told: dict[str, Any] = {"schema": schema_file([1], tmp_path), "knobs": VALUE}
    asked = trial("grpc", "grpcio", 1, payload([1], tmp_path), **told)
    for said in refusals(Serve(protocol="grpc", identity="nonce", **told), asked):
        assert "a schema, and document: value: a document travels in one way" in said


def test_a_codec_alone_takes_no_schema(tmp_path: Path) -> None:
    for client in [c for c in protocols()["protobuf"].clients if c.kind == "codec"]:
        asked = trial("protobuf", client.name, 1, payload([1], tmp_path), schema=schema_file([1], tmp_path))
        with pytest.raises(CannotTry, match="a schema does not apply") as refused:
            load_parts(replace(asked, target=None))
        assert refused.value.kind == "trial"


@pytest.mark.parametrize("protocol", WITH)
def test_a_schema_that_is_another_or_missing_is_refused(tmp_path: Path, protocol: str) -> None:
    schema, asked = schema_file([1], tmp_path), payload([1], tmp_path)
    client = protocols()[protocol].sequential
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes into it
    for wrong, reason in (
        (Schema(path=schema.path, sha256="0" * 64), "has SHA-256"),
        (Schema(path=str(tmp_path / "none.pb"), sha256=schema.sha256), "cannot read"),
        (Schema(path=str(pipe), sha256=schema.sha256), "not a regular file"),
    ):
        serve = Serve(protocol=protocol, identity="nonce", schema=wrong)
        for said in refusals(serve, trial(protocol, client, 1, asked, schema=wrong)):
            assert "schema: " in said
            assert reason in said


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_a_responder_hands_over_a_typed_document_with_every_field_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, implementation: str
) -> None:
    asked, schema = payload(DOCUMENT, tmp_path), schema_file(DOCUMENT, tmp_path)
    reads = tmp_path / "reads"
    monkeypatch.setenv(READS, str(reads))
    serve = {"implementation": implementation, "schema": schema, "module": "tests.support.reading_responder"}
    with responder(protocol, **serve) as (_, ready):
        sizes(trial(protocol, protocols()[protocol].sequential, ready["port"], asked, schema=schema))
    line = [json.loads(text) for text in reads.read_text().splitlines()][-1]
    if protocols()[protocol].responder(implementation).omits:
        assert line["fields"] == 0
        assert len(line["unread"]) == 1
    else:
        assert (line["fields"], line["unread"]) == (plain_fields(DOCUMENT), [])
