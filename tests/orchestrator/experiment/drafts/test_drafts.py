"""Experiments drafted from descriptions of services: each is valid as it is written, and has no credential in it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from grpc_reflection.v1alpha import reflection

from orchestrator.cli.experiments.start import init
from orchestrator.errors import UsageError
from orchestrator.experiment.drafts.credentials import Credentials, is_credential
from orchestrator.experiment.drafts.formats import drafted
from orchestrator.experiment.plan.own.own_calls import call_file
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.templates import render
from services.python.generated import orch_pb2

SOURCES = Path(__file__).parent / "sources"
FILE = Path("draft/first.yaml")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SOURCES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draft(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, dict[str, Any]]]:
    """The text of the draft, and the calls that its plan makes by stack."""
    files, secrets = drafted(source, FILE, "first")
    for name in secrets:
        assert name not in os.environ
        monkeypatch.setenv(name, "s3cret")
    FILE.parent.mkdir()
    for path, content in files.items():
        path.write_bytes(content)
    plan = make_plan(FILE)
    calls = {s.label: json.loads(call_file(plan, s.external)) for s in plan.stacks if s.external is not None}
    return files[FILE].decode(), calls


def commented(text: str) -> dict[str, dict[str, Any]]:
    """The calls that are commented out, by the names of their stacks."""
    lines = text.partition("stacks:\n")[2].partition("\n# One JSON")[0].splitlines()
    hidden = [line[4:] for line in lines if line.startswith(("  # - ", "  #   "))]
    return {stack["name"]: stack["call"] for stack in yaml.safe_load("\n".join(hidden))}


@pytest.mark.parametrize(
    ("source", "active", "others"),
    [
        (
            "petstore.yaml",
            {"getpet": "/v3/pets/{pet_id}", "findpets": "/v3/pets?status={status}&born={born}"},
            {"deletepet", "addpet"},
        ),
        ("swagger.json", {"getorder": "/v2/orders/{id}"}, {"order", "login"}),
        (
            "shop.har",
            {
                "get-api-orders-orders_id": "/api/orders/{orders_id}?page={page}&access_token=${ACCESS_TOKEN}",
                "get-sessionid-q-7bid-7d": "/${SESSIONID}/q%7Bid%7D?q={q}",
            },
            {"post-login", "post-api-orders"},
        ),
        (
            "shop.postman.json",
            {"get-order": "/v1/orders/{id}/lines/{orderId}?full=true", "get-order-2": "/ping", "query": "/v1/graphql"},
            {"new-order", "log-in"},
        ),
        ("shop.graphql", dict.fromkeys(("order", "orders", "search", "version"), "/graphql"), {"mutation-order"}),
    ],
)
def test_calls_that_only_read_are_active_and_others_commented_out(
    source: str, active: dict[str, str], others: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, calls = draft(source, monkeypatch)
    assert {name: call["path"] for name, call in calls.items()} == active
    assert commented(text).keys() == others


def test_an_openapi_document_gives_rows_bodies_and_what_to_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("petstore.yaml", monkeypatch)
    first, second = calls["findpets"]["rows"]
    assert first == {"pet_id": 7, "status": "available", "born": "2024-02-29", "X_Shop": "north"}
    assert (second["pet_id"], second["status"]) == (9, "sold")
    assert calls["findpets"]["headers"] == {"X-Shop": "{X_Shop}"}
    assert calls["getpet"]["expect"] == {"status": [200]}
    pet = {"name": "doggie", "id": 1, "tags": ["text"], "size": "small"}
    assert commented(text)["addpet"] == {"http": "POST /v3/pets", "body": {"json": pet}, "expect": {"status": 201}}
    assert "names https://eu.pets.example" in text  # and is not asked
    assert yaml.safe_load(text)["services"] == {"api": {"url": "http://localhost:8000"}}


def test_swagger_2_has_its_base_path_forms_and_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("swagger.json", monkeypatch)
    assert calls["getorder"]["rows"] == [{"id": 5}]
    assert commented(text)["order"]["body"] == {"json": {"pet": 1, "when": "2026-01-31T12:00:00Z"}}
    assert commented(text)["login"]["body"] == {"form": {"user": "text"}}


def test_a_proto_with_imports_gives_a_few_of_its_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("shop.proto", monkeypatch)
    assert [call["method"] for call in calls.values()] == [
        "shop.Cart/GetCart",
        "shop.Recommendation/ListRecommendations",
        "shop.Catalog/ListProducts",
        "shop.Catalog/GetProduct",
        "shop.Catalog/SearchProducts",
        "shop.Shipping/GetQuote",
        "shop.Currency/GetSupported",
        "shop.Currency/Convert",  # by its option
        "shop.Ads/GetAds",
    ]
    assert calls["ads-getads"]["message"] == {"id": "{ads_getads_id}"}  # a number; the other ids are texts
    assert calls["currency-convert"]["message"] == {"from": {"currency": "text", "units": "1"}, "to": "{to}"}
    assert calls["catalog-searchproducts"]["message"] == {
        "text": "{text}",
        "most": "{most}",
    }  # of alternatives the first
    assert commented(text).keys() == {"cart-additem"}
    assert "10 of its 15 calls" in text


def test_init_writes_a_plan_for_a_shop_of_nine_services() -> None:
    init(FILE, example="shop.proto")
    methods = [s.external.call["method"] for s in make_plan(FILE).stacks if s.external is not None]
    assert len(re.findall(r"^service ", Path("shop.proto").read_text(), re.MULTILINE)) == 9
    assert len(methods) == 9


def test_a_method_that_takes_a_wrapper_is_called_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("names.proto").write_text(
        'syntax = "proto3"; import "google/protobuf/wrappers.proto"; message Name { string name = 1; }\n'
        "service Names { rpc Get(google.protobuf.StringValue) returns (Name); }\n"
    )
    (call,) = draft("names.proto", monkeypatch)[1].values()
    assert (call["message"], call["rows"]) == ("{value}", [{"value": "text"}])


def test_a_graphql_schema_gives_documents_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    _, calls = draft("shop.graphql", monkeypatch)
    selected = "query order($id: ID!) { order(id: $id) { id total status at customer { id name } } }"
    assert " ".join(calls["order"]["query"].split()) == selected  # no order within an order
    assert "__typename" in calls["search"]["query"]
    row = calls["search"]["rows"][0]
    assert row["filter"] == {"status": "OPEN", "ids": ["1"], "limit": 1}
    assert [row["status"] for row in calls["orders"]["rows"]] == ["OPEN"]


def test_requests_of_a_recording_that_differ_in_values_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("shop.har", monkeypatch)
    order = calls["get-api-orders-orders_id"]
    assert [(row["orders_id"], row["page"]) for row in order["rows"]] == [("17", "1"), ("18", "2")]
    assert order["headers"] == {"cookie": "${COOKIE}", "accept": "application/json", "x-tenant": "north"}
    assert (order["expect"], order["decode"]) == ({"status": [200]}, True)
    other = calls["get-sessionid-q-7bid-7d"]
    assert (other["headers"], other["decode"]) == ({"authorization": "Bearer ${AUTHORIZATION}"}, False)
    assert commented(text)["post-login"]["body"]["form"] == {
        "username": "${LOGIN_USERNAME}",
        "password": "${PASSWORD}",
        "csrfmiddlewaretoken": "${CSRFMIDDLEWARETOKEN}",
        "next": "/orders",
    }


def test_a_collection_has_its_variables_and_its_ways_to_authorise(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("shop.postman.json", monkeypatch)
    assert calls["get-order"]["headers"] == {"x-tenant": "{tenant}", "x-shop": "${AUTH_API_KEY}"}
    assert calls["get-order-2"]["headers"] == {}
    assert calls["query"]["headers"] == {"authorization": "Bearer ${TOKEN}"}
    assert calls["query"]["body"]["json"]["variables"] == {"id": "{orderId}"}
    new = commented(text)["new-order"]["body"]["json"]
    assert new == {"pet": "{orderId}", "name": "a {orderId}", "half": "${HALF}"}
    assert commented(text)["log-in"]["headers"] == {"authorization": "Basic ${USER_PASSWORD_BASE64}"}
    assert yaml.safe_load(text)["services"]["api"] == {"url": "http://localhost:9000"}


@pytest.mark.parametrize("source", ["shop.har", "shop.postman.json"])
def test_no_credential_is_in_any_file(source: str) -> None:
    files, _ = drafted(source, FILE, "first")
    written = "".join(content.decode() for content in files.values())
    recorded = Path(source).read_text()
    hidden = ("SECRET", "REFERRED", "CSRF123456", "pass-w", "eyJ", '"kim"')
    assert sum(value in recorded for value in hidden) > 1
    assert [value for value in hidden if value.replace("SECRET", "-SECRET") in written] == []


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("Authorization", "x", True),
        ("q", "eyJhbGciOiJIUzI1NiJ9.e30.x", True),
        ("q", "9f86d081884c7d659a2feaa0c55ad015", True),
        ("id", "3fa85f64-5717-4562-b3fc-2c963f66afa6", False),
        ("author", "kim", False),
    ],
)
def test_credentials_are_known_by_name_or_by_look(name: str, value: str, is_one: bool) -> None:
    assert is_credential(name, value) is is_one


def test_two_values_of_one_name_are_two_variables_and_a_value_has_one() -> None:
    credentials = Credentials()
    places = [credentials.place("token", value) for value in ("first-one", "second-one", "Bearer first-one")]
    assert places == ["${TOKEN}", "${TOKEN_2}", "Bearer ${TOKEN}"]
    assert credentials.sweep({"a": ["/x/second-one/y"]}) == {"a": ["/x/${TOKEN_2}/y"]}


def test_braces_that_are_no_places_are_sent_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a variable that the description happens to name stays in the environment."""
    document = yaml.safe_load(Path("petstore.yaml").read_text())
    text = "use {id} and ${HOME}"
    body = {"content": {"application/json": {"example": {"note": text}}}}
    document["paths"] = {"/a": {"get": {"requestBody": body, "responses": {}}}}
    Path("braces.json").write_text(json.dumps(document))
    _, calls = draft("braces.json", monkeypatch)
    (call,) = calls.values()
    assert render(call["body"], call["rows"][0], {}) == {"json": {"note": text}}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.yaml", "", "its format is unknown"),
        ("binary.har", "\udc80", "can't decode"),
        ("other.json", '{"a": 1}', "its format is unknown"),
        ("empty.har", '{"log": {"entries": []}}', "it has no call"),
        ("odd.json", '{"openapi": "3.0.0", "paths": {"/a": {"get": 3}}}', "a value has another type"),
        ("part.json", '{"openapi": "3.0.0"}', "'paths' is missing"),
        ("circle.json", '{"openapi": "3", "paths": {"/a": {"$ref": "#/paths/~1a"}}}', "leads in a circle"),
        ("bad.proto", 'syntax = "proto3";\nmessage A { B b = 1; }', "protoc refuses it"),
        ("bad.graphql", "type Query { a: Missing }", "Missing"),
        ("none.graphql", "type A { a: Int }", "neither queries nor mutations"),
    ],
)
def test_what_describes_no_calls_is_refused_with_the_formats(name: str, content: str, reason: str) -> None:
    Path(name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(UsageError) as refused:
        drafted(name, FILE, "first")
    assert name in refused.value.message
    assert reason in refused.value.message
    assert "OpenAPI" in (refused.value.hint or "")


def test_init_drafts_from_a_file_and_overwrites_none() -> None:
    init(FILE, example="shop.har")
    assert "${COOKIE}" in FILE.read_text()
    FILE.unlink()
    with pytest.raises(UsageError, match=r"first\.jsonl already exists"):
        init(FILE, example="shop.har")
    assert not FILE.exists()
    for file, source in (("http://localhost:8000/orders/7", None), ("second.yaml", "localhost:8000/orders/7")):
        with pytest.raises(UsageError, match=r"not where it is written|there is no file"):
            init(Path(file), example=source)
    with pytest.raises(UsageError, match=r"missing\.har cannot be read"):
        init(Path("second.yaml"), example="missing.har")


def test_a_url_is_one_request_without_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft("http://ada:pw@localhost:8000/orders/7?api_key=abc123", monkeypatch)
    assert {name: call["path"] for name, call in calls.items()} == {"get-orders-7": "/orders/7?api_key=${API_KEY}"}
    assert yaml.safe_load(text)["services"] == {"api": {"url": "http://localhost:8000"}}
    assert "abc123" not in text
    assert "pw@" not in text


@pytest.fixture
def server() -> Iterator[str]:
    """A server that says by reflection what it offers."""
    running = grpc.server(ThreadPoolExecutor(2))
    reflection.enable_server_reflection(("orch.v1.Orch", reflection.SERVICE_NAME), running, orch_pb2.DESCRIPTOR.pool)
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    yield f"grpc://127.0.0.1:{port}"
    running.stop(None).wait()


@pytest.mark.busy
def test_a_running_grpc_server_is_asked_what_it_offers(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, calls = draft(server, monkeypatch)
    assert [call["method"] for call in calls.values()] == ["orch.v1.Orch/Echo"]
    assert commented(text)["orch-add"]["message"] == {"a": "{a}", "b": "{b}"}
    assert yaml.safe_load(text)["services"] == {"api": {"url": server.replace("grpc", "http")}}
    with pytest.raises(UsageError, match="give grpc://HOST:PORT"):
        drafted("grpc://127.0.0.1", FILE, "first")
