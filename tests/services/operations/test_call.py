"""Call files: requests are rendered from rows, and replies verified by what the call expects."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from services.python.contract import templates
from services.python.contract.lines import Payload
from services.python.operations.base import PayloadError
from services.python.operations.call import OPERATION, rendered, secrets_of

VECTORS = json.loads((Path(__file__).parents[3] / "protos" / "call-vectors.json").read_text(encoding="utf-8"))
HTTP = {"kind": "http", "method": "GET", "path": "/o/{id}?q={who}", "headers": {}, "body": {}}
USUAL = {"decode": True, "order": "file", "expect": {}, "same": {}, "rows": [{"id": "1", "who": "a/b c"}]}


def call(**changes: Any) -> dict[str, Any]:
    return {**USUAL, **HTTP, **changes}


def payload(folder: Path, described: dict[str, Any]) -> Payload:
    content = json.dumps(described).encode()
    path = folder / "call.json"
    path.write_bytes(content)
    return Payload(kind="call", path=str(path), sha256=hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{id}", 7),
        ("{text:number}", 8),
        ("{half:number}", 0.5),
        ("no {id} of {text}", "no 7 of 8"),
        ("{yes}", True),
        ("it is {yes}", "it is true"),
        ("{ id } {}", "{ id } {}"),
        ({"a": ["{id}", 1, None]}, {"a": [7, 1, None]}),
        ("Bearer ${TOKEN}", "Bearer s3cret"),
    ],
)
def test_a_template_has_the_values_of_its_row(template: Any, value: Any) -> None:
    row = {"id": 7, "text": "8", "half": "0.5", "yes": True}
    assert templates.render(template, row, {"TOKEN": "s3cret"}) == value


def test_columns_and_secrets_are_named_and_secrets_hidden() -> None:
    template = {"a": "{id} ${TOKEN}", "b": ["{who}"]}
    assert list(templates.columns(template)) == ["id", "who"]
    assert list(templates.secrets(template)) == ["TOKEN"]
    assert templates.hidden("said s3cret", template, {"TOKEN": "s3cret"}) == "said ***"


@pytest.mark.parametrize(
    ("body", "content", "media_type"),
    [
        ({}, b"", None),
        ({"json": {"n": "{id:number}"}}, b'{"n":1}', "application/json"),
        ({"form": {"who": "{who}"}}, b"who=a%2Fb+c", "application/x-www-form-urlencoded"),
        ({"text": "{id}!"}, b"1!", None),
        ({"hex": "00ff"}, b"\x00\xff", None),
    ],
)
def test_a_request_is_rendered_whole(body: dict[str, Any], content: bytes, media_type: str | None) -> None:
    ((request,),) = rendered(call(body=body, headers={"X-Id": "{id}"}))
    assert (request["path"], request["body"]) == ("/o/1?q=a%2Fb%20c", content)
    assert request["headers"]["x-id"] == "1"
    assert request["headers"].get("content-type") == media_type


def test_rows_are_asked_in_their_order_or_in_one_of_the_seed(tmp_path: Path) -> None:
    rows = [{"id": number, "who": ""} for number in range(50)]

    def order(seed: int, **changes: Any) -> list[int]:
        make = OPERATION.requests(payload(tmp_path, call(rows=rows, **changes)), seed)
        return [make(sequence, lambda: 0)["row"] for sequence in range(1, 101)]

    in_order = order(1)
    assert in_order == [*range(1, 51)] * 2
    drawn = order(1, order="random")
    assert drawn == order(1, order="random") != order(2, order="random")
    assert drawn[:50] == drawn[50:]
    assert sorted(drawn[:50]) == in_order[:50]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_requests_are_those_that_every_language_renders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    for name, value in VECTORS["environment"].items():
        monkeypatch.setenv(name, value)
    make = OPERATION.requests(payload(tmp_path, case["call"]), VECTORS["seed"])
    for number, vector in enumerate(case["requests"], start=1):
        request = make(number, lambda: 0)
        is_grpc = case["call"]["kind"] == "grpc"
        body = request["message"] if is_grpc else request["body"]
        fields = request["metadata"] if is_grpc else sorted(request["headers"].items())
        plain = {key: request[key] for key in vector.keys() - {"fields", "body"}}
        assert {**plain, "fields": [[*field] for field in fields], "body": body.hex()} == vector


@pytest.mark.parametrize(
    ("expect", "reply", "reason"),
    [
        ({}, {"status": 200, "body": b""}, None),
        ({"status": [200, 201]}, {"status": 201, "body": b""}, None),
        ({"status": [200]}, {"status": 404, "body": b"no"}, "status 404, not 200"),
        ({"size": 2}, {"status": 200, "body": b"abc"}, "3 bytes, not 2"),
        ({"sha256": hashlib.sha256(b"abc").hexdigest()}, {"status": 200, "body": b"abc"}, None),
        ({"sha256": "0" * 64}, {"status": 200, "body": b"abc"}, "SHA-256"),
        ({"values": {"$.id": "{id}"}}, {"status": 200, "body": b'{"id": 1}'}, None),
        ({"values": {"$.id": "{id}"}}, {"status": 200, "body": b"", "document": {"id": 2}}, "$.id is 2, not '1'"),
        ({"values": {"$.id": 1}}, {"status": 200, "body": b'{"id": true}'}, "$.id is True, not 1"),
        ({"values": {"$.id": 1}}, {"status": 200, "body": b"{}"}, "nothing at $.id"),
        ({"values": {"$[*]": 1}}, {"status": 200, "body": b"[1, 1]"}, "2 values at $[*]"),
        ({"values": {"$": None}}, {"status": 0, "body": "null"}, None),
    ],
)
def test_a_reply_is_right_where_all_that_is_expected_holds(
    expect: dict[str, Any], reply: dict[str, Any], reason: str | None
) -> None:
    ((request,),) = rendered(call(expect=expect))
    said = OPERATION.verify(request, reply)
    assert said is None if reason is None else reason in str(said)


def test_what_has_no_value_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCH_TEST_TOKEN", raising=False)
    secret = payload(tmp_path, call(headers={"a": "${ORCH_TEST_TOKEN}"}))
    with pytest.raises(PayloadError, match="row 1 has no value for 'ORCH_TEST_TOKEN'"):
        OPERATION.requests(secret, 1)
    with pytest.raises(PayloadError, match="no value for 'ib'"):
        rendered(call(path="/{ib}"))
    with pytest.raises(PayloadError, match="row 1: could not convert"):
        rendered(call(body={"json": "{who:number}"}))
    monkeypatch.setenv("ORCH_TEST_TOKEN", "s3cret")
    assert secrets_of(secret) == ["s3cret"]
