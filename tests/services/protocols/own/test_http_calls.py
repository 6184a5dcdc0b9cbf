"""Calls of a real service by HTTP, by every client: steps, redirects, compressed replies, methods, certificates."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.offers import protocols
from services.python.load.task import make_task
from services.python.trial.parts import CannotTry, ask_task
from tests.support.certificates import HOST, TLS, Made
from tests.support.ends import responder
from tests.support.go_ends import go_responder
from tests.support.own_services import Shop
from tests.support.own_trials import checked, serving, step

CLIENTS = protocols()["own_http"].clients
NAMES = [client.name for client in CLIENTS]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(ThreadingHTTPServer((HOST, 0), Shop)) as bound:
        yield bound


LOGIN = step("POST /login", body={"json": {"user": "{user}"}}, save={"token": "$.token"})
ORDER = step(
    "GET /order", headers={"authorization": "Bearer {token}"}, expect={"status": [200], "values": {"$.of": "{user}"}}
)
USERS = [{"user": "ann"}, {"user": "bo"}]


@pytest.mark.parametrize("client", NAMES)
def test_steps_hand_values_of_their_replies_on(tmp_path: Path, port: int, client: str) -> None:
    parts, _ = checked(tmp_path, client, port, LOGIN, ORDER, rows=USERS)
    dialer = parts.dialer("call", parts.make(1, lambda: 0))
    for number, user in enumerate(("ann", "bo"), start=1):
        _, reply, _ = ask_task(parts, dialer, make_task(parts.make, 2)(number, lambda: 0))
        assert [each["document"] for each in reply["calls"]] == [{"token": f"t-{user}"}, {"of": user}]


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize(
    ("method", "body", "content"), [("GET", {}, ""), ("PUT", {"json": {"a": 1}}, '{"a":1}'), ("DELETE", {}, "")]
)
def test_each_client_sends_what_the_call_says(
    tmp_path: Path, port: int, client: str, method: str, body: dict[str, Any], content: str
) -> None:
    seen = {"$.method": method, "$.path": "/o/a%20b?q=1", "$.x": "a b", "$.body": content}
    call = step(f"{method} /o/{{id}}?q=1", headers={"X-Id": "{id}"}, body=body, expect={"values": seen})
    _, (sent, received) = checked(tmp_path, client, port, call, rows=[{"id": "a b"}])
    assert (sent, received > 0) == (len(content), True)


@pytest.mark.parametrize("client", NAMES)
def test_each_step_has_its_own_method_and_body(tmp_path: Path, port: int, client: str) -> None:
    steps = [
        step(
            f"{method} /m", body={"text": body} if body else {}, expect={"values": {"$.method": method, "$.body": body}}
        )
        for method, body in (("GET", ""), ("POST", "a"), ("DELETE", ""), ("PUT", "b"), ("POST", ""), ("GET", ""))
    ]
    steps.insert(2, step("HEAD /m", expect={"status": [200]}))
    checked(tmp_path, client, port, *steps)


@pytest.mark.parametrize("client", NAMES)
def test_redirects_are_followed_where_the_call_says_so_and_counted(tmp_path: Path, port: int, client: str) -> None:
    to_old = step(
        "POST /old", body={"text": "a"}, redirects="follow", expect={"values": {"$.method": "GET", "$.body": ""}}
    )
    kept = step(
        "PUT /kept", body={"text": "b"}, redirects="follow", expect={"values": {"$.method": "PUT", "$.body": "b"}}
    )
    parts, _ = checked(tmp_path, client, port, to_old, kept)
    assert parts.verify.outcomes == {"redirects followed": 2}  # type: ignore[attr-defined]


@pytest.mark.parametrize("client", NAMES)
def test_compressed_replies_are_unpacked_where_they_are_offered_and_counted(
    tmp_path: Path, port: int, client: str
) -> None:
    offering = step("GET /text", headers={"Accept-Encoding": "gzip"}, decode=False, expect={"size": 8})
    parts, (_, received) = checked(tmp_path, client, port, offering)
    assert parts.verify.outcomes == {"replies compressed by gzip": 1}  # type: ignore[attr-defined]
    assert received == len(gzip.compress(b"not JSON"))


LOST = {**LOGIN, "save": {"token": "$.tokens"}}
WRONG = {**ORDER, "expect": {"values": {"$.of": "{token}"}}}


@pytest.mark.parametrize(
    ("steps", "kind", "reason"),
    [
        ([LOST, ORDER], "wrong-reply", r"call 2 of 2: token is saved from \$.tokens, where the reply before has 0 "),
        ([LOGIN, WRONG], "wrong-reply", r"call 2 of 2: row 1: \$.of is 'ann', not '\*\*\*'"),
        ([step("GET /404")], "protocol", "HTTP 404"),
        ([step("GET /404", expect={"status": [404]})], "", ""),
        ([step("GET /text")], "undecodable", "not JSON"),
        ([step("GET /old")], "protocol", "HTTP 302, a redirect to .*/what: `redirects: follow` follows it"),
        ([step("GET /round", redirects="follow")], "protocol", "more than 10 redirects"),
        (
            [step("GET /away", redirects="follow")],
            "protocol",
            "a redirect to another server is not followed: http://127.0.0.2:1/what",
        ),
    ],
)
@pytest.mark.parametrize("client", ["pycurl", "aiohttp"])
def test_another_reply_is_an_error_with_its_reason(
    tmp_path: Path, port: int, client: str, steps: list[dict[str, Any]], kind: str, reason: str
) -> None:
    if not kind:
        checked(tmp_path, client, port, *steps, rows=USERS)
        return
    with pytest.raises(CannotTry, match=reason) as refused:
        checked(tmp_path, client, port, *steps, rows=USERS)
    assert refused.value.kind == kind


@pytest.fixture(scope="module")
def secured(made: Made) -> Iterator[int]:
    """A service that takes those alone who have a certificate of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.tls.certificate, made.tls.key)
    context.load_verify_locations(made.authority.path)
    context.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer((HOST, 0), Shop)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server) as bound:
        yield bound


@pytest.mark.parametrize("client", NAMES)
def test_a_service_that_wants_a_certificate_gets_it(tmp_path: Path, secured: int, made: Made, client: str) -> None:
    call, own = step("GET /x"), [made.tls.certificate, made.tls.key]
    checked(tmp_path, client, secured, call, certificate=own, authority=made.authority)
    with pytest.raises(CannotTry):
        checked(tmp_path, client, secured, call, authority=made.authority)


ADDING = (
    step("POST /add", body={"json": {"a": 1, "b": 2}}, expect={"values": {"$.sum": 3}}, save={"sum": "$.sum"}),
    step("POST /add", body={"json": {"a": "{sum}", "b": 2}}, expect={"values": {"$.sum": 5}}),
)


@pytest.mark.parametrize("client", [client.name for client in CLIENTS if "http: 2" not in client.refuses])
def test_steps_go_over_http_2_where_the_client_has_it(tmp_path: Path, client: str) -> None:
    with responder("http+json", implementation="asgi-granian", knobs={"http": "2"}) as (_, ready):
        checked(tmp_path, client, ready["port"], *ADDING, knobs={"http": "2"})


@pytest.mark.parametrize("client", [client.name for client in CLIENTS if "http: 3" not in client.refuses])
def test_steps_go_over_http_3_where_the_client_has_it(tmp_path: Path, made: Made, client: str) -> None:
    with go_responder("rest", tls=made.tls, knobs={**TLS, "http": "3"}) as (_, ready):
        parts, _ = checked(tmp_path, client, ready["port"], *ADDING, knobs={"http": "3"}, authority=made.authority)
    assert parts.tls.negotiated().version == "TLSv1.3"
