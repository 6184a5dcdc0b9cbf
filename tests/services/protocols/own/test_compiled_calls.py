"""The compiled requester keeps the promises of own calls: by HTTP, and by gRPC with streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Trial
from services.python.load.record import read_record
from tests.support.built import why_not
from tests.support.certificates import HOST, TLS, Made
from tests.support.go_ends import GoProgram, go_responder
from tests.support.own_services import Shop, answering_orders, order_step
from tests.support.own_trials import serving, step, step_of, trial_of

pytestmark = [pytest.mark.busy, pytest.mark.skipif(bool(why_not("go")), reason="`make native` builds it")]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(ThreadingHTTPServer((HOST, 0), Shop)) as bound:
        yield bound


@pytest.fixture(scope="module")
def orders() -> Iterator[int]:
    with answering_orders() as bound:
        yield bound


def ended(trial: Trial) -> tuple[dict[str, Any], str]:
    """The last line of the requester, and all that it wrote."""
    program = GoProgram(role="request")
    try:
        program.send(trial.to_json())
        _, lines, errors = program.ended_by_itself()
    finally:
        program.stop()
    return lines[-1], json.dumps(lines) + errors


def test_what_is_sent_and_expected_is_what_the_call_says(tmp_path: Path, port: int) -> None:
    rows = [{"id": f"a {number}", "seen": f"/o/a%20{number}"} for number in range(5)]
    seen = {"$.method": "PUT", "$.path": "{seen}", "$['x']": "{id}", "$.body": '{"a":1}'}
    call = step("PUT /o/{id}", headers={"X-Id": "{id}"}, body={"json": {"a": 1}}, expect={"values": seen})
    trial = trial_of(tmp_path, "go-net-http", port, call, requests=40, rows=rows, order="random")
    done, _ = ended(trial)
    assert (done["type"], done["errors"], done["verified"]) == ("done", {}, 40)
    assert {row.bytes_sent for row in read_record(trial.record)} == {7}


def test_a_wrong_reply_is_an_error_and_no_latency(tmp_path: Path, port: int) -> None:
    rows = [{"id": str(number), "path": f"/{number if number != 3 else 4}"} for number in range(5)]
    call = step("GET /{id}", expect={"values": {"$.path": "{path}"}})
    done, _ = ended(trial_of(tmp_path, "go-net-http", port, call, requests=40, rows=rows))
    assert (done["errors"], done["verified"]) == ({"wrong-reply": 8}, 32)
    assert done["error_examples"] == {"wrong-reply": 'row 4: $["path"] is "/3", not "/4"'}


@pytest.mark.parametrize("decode", [True, False])
def test_messages_of_a_stream_are_read_to_their_end_and_verified(tmp_path: Path, orders: int, decode: bool) -> None:
    rows = [{"id": number, "first": f"{number if number != 3 else 4}-0"} for number in range(1, 6)]
    call = order_step("Items", "{id}", decode=decode, expect={"size": 15, "values": {"$[0].article": "{first}"}})
    trial = trial_of(tmp_path, "grpc-go", orders, call, requests=40, rows=rows)
    done, _ = ended(trial)
    assert (done["errors"], done["verified"]) == ({"wrong-reply": 8}, 32)
    assert done["error_examples"] == {"wrong-reply": 'row 3: $[0]["article"] is "3-0", not "4-0"'}
    assert {row.bytes_received for row in read_record(trial.record) if row.status == 0} == {15}


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_call_goes_over_http_2_and_3(tmp_path: Path, made: Made, version: str) -> None:
    call = step("POST /add", body={"json": {"a": 1, "b": 2}}, expect={"values": {"$.sum": 3}})
    with go_responder("rest", tls=made.tls, knobs={**TLS, "http": version}) as (_, ready):
        secured: dict[str, Any] = {"knobs": {"http": version}, "authority": made.authority}
        done, _ = ended(trial_of(tmp_path, "go-net-http", ready["port"], call, requests=20, **secured))
    assert (done["errors"], done["verified"]) == ({}, 20)


OTHERS: list[tuple[dict[str, Any], str, str]] = [
    (step("GET /404"), "protocol", "HTTP 404"),
    (step("GET /404", expect={"status": [404]}), "", ""),
    (step("GET /old"), "protocol", "HTTP 302"),
    (step("GET /text"), "undecodable", "in not JSON"),
    (step("HEAD /text"), "", ""),
    (step("GET /text", decode=False, expect={"size": 8}), "", ""),
    (step("GET /text", decode=False, expect={"size": 7}), "wrong-reply", "8 bytes, not 7"),
    (step("GET /", expect={"sha256": "0" * 64}), "wrong-reply", "SHA-256"),
    (step("GET /", expect={"values": {"$.lost": 1}}), "wrong-reply", "nothing at"),
    (step("GET /", expect={"values": {"$[?@ != 'x']": 1}}), "wrong-reply", "4 values at"),
    (step("GET /", expect={"values": {"$.x": "other"}}), "wrong-reply", '$["x"] is "***", not "other"'),
    (step("GET /", body={"json": "{id:number}"}), "trial", "row 1"),
    (step_of("websocket", send="x", path="/"), "trial", "own_websocket"),
]


@pytest.mark.parametrize(("call", "kind", "reason"), OTHERS)
def test_other_replies_are_refused_without_the_secret(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch, call: dict[str, Any], kind: str, reason: str
) -> None:
    monkeypatch.setenv("ORCH_TEST_TOKEN", "s3cret")
    call = {**call, "headers": {"x-id": "${ORCH_TEST_TOKEN}"}}
    last, written = ended(trial_of(tmp_path, "go-net-http", port, call, rows=[{"id": "a b"}]))
    assert (last["type"], last.get("kind", "")) == ("failed" if kind else "done", kind)
    assert reason in last.get("message", "")
    assert "s3cret" not in written
