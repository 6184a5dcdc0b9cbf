"""Stacks that call services of the person's own: a plan has the call whole, and never the value of a secret."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.own.own_calls import call_file, parse_rows, require_secrets
from orchestrator.experiment.plan.own.own_protos import compiled
from orchestrator.experiment.plan.own.running import announcements
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.shapes import decode

SHOP = Path(__file__).parents[3] / "experiments" / "own"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A copy of the shipped example that a test may spoil."""
    shutil.copytree(SHOP, tmp_path / "own", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "own" / "orders.yaml"


def refusals(path: Path) -> list[str]:
    with pytest.raises(ExperimentError) as refused:
        make_plan(path)
    return [f"{p.mark.line}:{p.mark.column} {p.message}" for p in refused.value.problems]


def spoilt(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def files(plan: Plan) -> dict[str, dict[str, Any]]:
    """The call file of each stack by its label."""
    return {s.label: json.loads(call_file(plan, s.external)) for s in plan.stacks if s.external is not None}


def test_the_shipped_example_has_a_stack_for_each_kind_of_call(shop: Path) -> None:
    plan = make_plan(shop)
    assert decode(Plan, json.loads(plan.to_json())) == plan
    calls = files(plan)
    kinds = {label: call["kind"] for label, call in calls.items()}
    assert kinds == {"rest": "http", "grpc": "grpc", "graphql": "graphql", "websocket": "websocket"}
    assert {len(call["rows"]) for call in calls.values()} == {200}
    assert calls["graphql"]["same"]["total"] == "$.data.order.total"
    assert calls["rest"]["same"]["total"] == "$.total"
    assert {(cell.operation, cell.kind) for cell in plan.cells} == {("call", "call")}
    assert plan.reference == plan.stacks[0].id
    assert announcements(plan) == []  # orch starts them all


def test_a_descriptor_set_makes_the_call_of_its_proto(shop: Path) -> None:
    by_proto = files(make_plan(shop))["grpc"]
    (shop.parent / "shop.pb").write_bytes(compiled(SHOP / "shop.proto"))
    plan = make_plan(spoilt(shop, "proto: shop.proto", "descriptors: shop.pb"))
    assert files(plan)["grpc"] == by_proto


def test_events_are_calls_of_their_own_kind(shop: Path) -> None:
    text = 'name: x\nquestion: Which?\nservices: {a: {url: "http://localhost:1"}}\nstacks:\n'
    sse = '  - {name: feed, service: a, call: {sse: "POST /feed", body: {json: [1]}, events: 2}}\n'
    shop.write_text(f"{text}{sse}  - {{name: chat, service: a, call: {{socketio: order, send: [1]}}}}\n")
    calls = files(make_plan(shop))
    wanted: dict[str, dict[str, Any]] = {
        "feed": {"kind": "sse", "method": "POST", "path": "/feed", "body": {"json": [1]}, "events": 2},
        "chat": {"kind": "socketio", "path": "/socket.io", "event": "order", "send": [1]},
    }
    assert {name: calls[name] | wanted[name] for name in wanted} == calls


def test_two_clients_of_one_service_are_two_stacks(shop: Path) -> None:
    text = 'name: x\nquestion: Which?\nservices: {a: {url: "http://localhost:1"}}\n'
    shop.write_text(text + "stacks: {name: mine, service: a, client: [pycurl, aiohttp], call: {http: GET /}}\n")
    plan = make_plan(shop)
    assert [stack.label for stack in plan.stacks] == ["mine (pycurl)", "mine (aiohttp)"]
    assert "requests, warm-ups included, go to localhost:1 (127.0.0.1), which runs already" in announcements(plan)[0]


def test_replies_that_are_not_decoded_are_told(shop: Path) -> None:
    plan = make_plan(spoilt(shop, '"GET /v1/orders/{id}"', '"GET /v1/orders/{id}", decode: false'))
    [client] = plan.resolved[plan.stacks[0].id]["own_work"]
    assert client == {"name": "pycurl", "omits": "stops the clock before its reply is decoded"}


STEPS = """\
name: x
question: Which?
services: {a: {url: "http://localhost:1"}, b: {url: "https://localhost:1", tls: {ca: ca.pem, cert: ca.pem, key: key.pem}}}
stacks:
  - service: a
    calls:
      login: {http: POST /login, body: {form: {id: "{id}"}}, save: {token: token}}
      get: {http: "GET /{id}", headers: {a: "{token}"}, redirects: follow}
    steps: [login, get, get]
data: orders.csv
"""


def test_steps_are_a_task_whose_values_are_saved(shop: Path) -> None:
    shop.write_text(STEPS)
    plan = make_plan(shop)
    (call,) = files(plan).values()
    assert (call["kind"], [step["path"] for step in call["steps"]]) == ("http", ["/login", "/{id}", "/{id}"])
    assert call["steps"][0]["save"] == {"token": "$.token"}
    assert [(cell.kind, cell.calls) for cell in plan.cells] == [("task", 3)]
    assert decode(Plan, json.loads(plan.to_json())) == plan


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[login, get, get]", "[login, gte]", "9:20 `calls` has no 'gte'. Did you mean get?"),
        ("[login, get, get]", "[get, login]", "8:41 `{token}` names no column. Known: id."),
        ('"{token}"', '"{tokne}"', "Did you mean token?"),
        ("save: {token: token}", 'save: {token: "$["}', "7:76 '$[' is no JSONPath (RFC 9535)"),
        ('http: POST /login, body: {form: {id: "{id}"}}', "websocket: /, send: a", "these are not of one kind"),
        ("redirects: follow", "redirects: fellow", "8:68 'redirects': 'fellow' is not one of follow."),
        ("    steps: [login, get, get]\n", "", "or several `calls` and the `steps` they are made in"),
        ('{a: "{token}"}', "{Accept-Encoding: br}", "accept-encoding: br: replies are unpacked from gzip and zstd"),
        ("service: a", "service: b", "3:53 no authority of its certificate is at ca.pem"),
        ("tls: {ca: ca.pem, cert: ca.pem, key: key.pem}", "tls: {cert: ca.pem}", "`cert` and `key` belong together"),
        ('"http://localhost:1"', '"http://localhost:1", tls: {}', "tls: of a service with an https `url`"),
    ],
)
def test_steps_and_certificates_that_do_not_fit_are_refused(shop: Path, old: str, new: str, message: str) -> None:
    shop.write_text(STEPS)
    assert any(message in refusal for refusal in refusals(spoilt(shop, old, new)))


@pytest.mark.parametrize(
    ("more", "messages"),
    [
        ("load: {concurrency: 4, requests: 1000}", ()),
        ("load: {concurrency: 17, requests: 1000}", ("would get 17 requests at once, more than `limits.in_flight`",)),
        ("load: {rate: 2000/s, duration: 1m}", ("more than `limits.rate` (1,000).", "more than `limits.requests`")),
        ("load: {rate: 2000/s, duration: 1m}\nlimits: {rate: 3000/s, requests: 10000000}", ()),
    ],
)
def test_what_another_machine_gets_is_bounded(shop: Path, more: str, messages: tuple[str, ...]) -> None:
    text = 'name: x\nquestion: Which?\nservices: {a: {url: "http://198.18.0.1", allow: true}}\n'
    shop.write_text(f"{text}stacks: {{service: a, call: {{http: GET /}}}}\n{more}\n")
    if not messages:
        (line,) = announcements(make_plan(shop))
        assert "requests, warm-ups included, go to 198.18.0.1:80, which runs already, " in line
        assert ("4 at once" in line) != ("up to 2,000 a second" in line)
        return
    assert [message for message, refusal in zip(messages, refusals(shop), strict=True) if message not in refusal] == []


def test_a_secrets_name_is_in_the_plan_and_its_value_is_not(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt(
        shop,
        'call: {http: "GET /v1/orders/{id}", ',
        'call: {http: "GET /v1/orders/{id}", headers: {a: "${SHOP_TOKEN}"}, ',
    )
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    (refusal,) = refusals(shop)
    assert "the environment has no SHOP_TOKEN, which this call names as `${SHOP_TOKEN}`." in refusal
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    plan = make_plan(shop)
    assert "${SHOP_TOKEN}" in plan.to_json()
    assert "s3cret" not in plan.to_json() + str(files(plan))
    require_secrets(plan)
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(UsageError, match="SHOP_TOKEN"):
        require_secrets(plan)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("shop.v1.Orders/Get", "shop.v1.Orders/Gte", "shop.v1.Orders has no method Gte. Did you mean Get?"),
        ("shop.v1.Orders/Get", "shop.v1.Order/Get", "there is no service shop.v1.Order. Did you mean shop.v1.Orders?"),
        ("proto: shop.proto", "proto: shpo.proto", "beside the experiment. Did you mean shop.proto?"),
        ("proto: shop.proto", "descriptors: orders.csv", "it is no descriptor set"),
        (
            'message: {id: "{id}"}',
            'message: {idd: "{id}"}',
            "14:72 shop.v1.OrderRequest has no field 'idd'. Did you mean",
        ),
        (
            'message: {id: "{id}"}, expect: {values: {id',
            'message: {id: "{id}"}, expect: {values: {idd',
            "shop.v1.Order, the reply, has no field 'idd'",
        ),
        ('message: {id: "{id}"}', 'message: {id: "x{id}"}', "row 1 makes no request of shop.v1.Orders/Get"),
        ("graphql: order.graphql", "graphql: orders.csv", "orders.csv:1:1 is no GraphQL: Unexpected Name 'id'"),
        ('http: "GET', 'body: {json: "{"}, http: "GET', "it is a text: write the JSON value without quotes"),
        (
            'http: "GET',
            'headers: {content-type: text/json}, body: {text: "{id}]"}, http: "GET',
            "its first row is no JSON: Extra data: line 1 column 2",
        ),
        (
            'http: "GET',
            'headers: {content-type: a/json}, body: {file: shop.proto}, http: "GET',
            "shop.proto is no JSON: Expecting value: line 1 column 1",
        ),
        ('send: {id: "{id:number}"}', 'send: {id: "{order}"}', "`{order}` names no column. Known: id."),
        ("graphql: order.graphql", "graphql: orders.graphql", "Did you mean order.graphql"),
        ("file: orders.csv", "file: orders.cvs", "there is no file orders.cvs beside the experiment. Did you mean"),
        ("file: orders.csv", "file: shop.proto", "shop.proto: data are in a .csv, .jsonl or .ndjson file."),
    ],
)
def test_what_is_misspelt_is_told_with_what_is_meant(shop: Path, old: str, new: str, message: str) -> None:
    (said,) = refusals(spoilt(shop, old, new))
    assert message in said


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", b'\xef\xbb\xbfid,who\n1,"a, b"\n', [{"id": "1", "who": "a, b"}]),
        ("a.jsonl", b'{"id": 1, "deep": {"a": [2]}}\n\n{"id": 2}\n', [{"id": 1, "deep": {"a": [2]}}, {"id": 2}]),
        ("a.csv", b"id,who\n1\n", "row 1 has another number of values than the header"),
        ("a.csv", b"id\n", "it has 0 rows"),
        ("a.jsonl", b"{}\n{\n", "line 2 is no JSON"),
        ("a.ndjson", b"[1]\n", "line 1 is no JSON object"),
    ],
)
def test_rows_are_csv_or_json_lines(name: str, content: bytes, rows: list[dict[str, Any]] | str) -> None:
    if isinstance(rows, list):
        assert parse_rows(name, content) == rows
    else:
        with pytest.raises(ValueError, match=rows):
            parse_rows(name, content)


def test_data_that_have_changed_since_the_plan_was_made_are_refused(shop: Path) -> None:
    plan = make_plan(shop)
    (shop.parent / "orders.csv").write_text("id\n7\n")
    for path in (plan.experiment_path, "elsewhere/orders.yaml"):
        with pytest.raises(UsageError, match=r"orders\.csv, the data of the plan, is gone or has changed"):
            files(replace(plan, experiment_path=path))
