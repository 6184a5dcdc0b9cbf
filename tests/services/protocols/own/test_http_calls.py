"""Calls of a real service by HTTP, by every client: steps, redirects, compressed replies, methods, certificates."""

from __future__ import annotations

import gzip
import hashlib
import json
import ssl
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from services.python.contract.lines import Authority, Load, Payload, Target, Trial
from services.python.contract.offers import protocols
from services.python.load.task import make_task
from services.python.trial.parts import CannotTry, Parts, ask_task, check, load_parts
from tests.support.certificates import HOST, TLS, Made, certificates
from tests.support.ends import responder

CLIENTS = [client.name for client in protocols()["own_http"].clients]
USUAL: dict[str, Any] = {"kind": "http", "headers": {}, "body": {}, "decode": True, "expect": {}}


class _Shop(BaseHTTPRequestHandler):
    """Who logs in gets a token, without which there are no orders."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _answer(self, status: int, document: Any, **fields: str) -> None:
        body = json.dumps(document).encode()
        if "gzip" in self.headers.get("accept-encoding", ""):
            body, fields = gzip.compress(body), {**fields, "Content-Encoding": "gzip"}
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        match self.command, self.path:
            case "POST", "/login":
                self._answer(200, {"token": f"t-{json.loads(body)['user']}"})
            case _, "/order":
                token = self.headers.get("authorization", "")
                self._answer(200 if token.startswith("Bearer t-") else 401, {"of": token.removeprefix("Bearer t-")})
            case _, "/old":
                self._answer(302, {}, Location="/what")
            case _, "/kept":
                self._answer(307, {}, Location="/what")
            case _, "/round":
                self._answer(302, {}, Location="/round")
            case _, "/away":
                self._answer(302, {}, Location="http://127.0.0.2:1/what")
            case _:
                self._answer(200, {"method": self.command, "body": body.decode(), "path": self.path})

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _any  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


def served(context: ssl.SSLContext | None = None) -> Iterator[int]:
    server = ThreadingHTTPServer((HOST, 0), _Shop)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from served()


def step(request: str, **changes: Any) -> dict[str, Any]:
    method, _, path = request.partition(" ")
    return {**USUAL, "method": method, "path": path, **changes}


def parts_of(
    folder: Path, client: str, port: int, *steps: dict[str, Any], authority: Authority | None = None, **more: Any
) -> tuple[Trial, Parts]:
    """A trial of these steps, loaded."""
    shared = {"kind": "http", "order": "file", "same": {}, "rows": [{"user": "ann"}, {"user": "bo"}], **more}
    content = json.dumps({**shared, "steps": steps}).encode()
    path = folder / "call.json"
    path.write_bytes(content)
    trial = Trial(
        target=Target(host=HOST, port=port, anonymous=True),
        protocol="own_http",
        client=client,
        operation="call",
        record="",
        payload=Payload(kind="call", path=str(path), sha256=hashlib.sha256(content).hexdigest()),
        connection="reuse",
        load=Load(requests=0),
        calls=len(steps),
        knobs={} if authority is None else TLS,
        tls=authority,
        timeout_s=10.0,
    )
    return trial, load_parts(trial)


LOGIN = step("POST /login", body={"json": {"user": "{user}"}}, save={"token": "$.token"})
ORDER = step(
    "GET /order", headers={"authorization": "Bearer {token}"}, expect={"status": [200], "values": {"$.of": "{user}"}}
)


@pytest.mark.parametrize("client", CLIENTS)
def test_steps_hand_values_of_their_replies_on(tmp_path: Path, port: int, client: str) -> None:
    trial, parts = parts_of(tmp_path, client, port, LOGIN, ORDER)
    assert check(trial, parts, parts.make(1, lambda: 0))[0] is None
    dialer = parts.dialer("call", parts.make(1, lambda: 0))
    for number, user in enumerate(("ann", "bo"), start=1):
        _, reply, _ = ask_task(parts, dialer, make_task(parts.make, 2)(number, lambda: 0))
        assert [each["document"] for each in reply["calls"]] == [{"token": f"t-{user}"}, {"of": user}]


def test_a_value_that_is_not_there_and_a_wrong_reply_are_told_with_their_step(tmp_path: Path, port: int) -> None:
    lost = {**LOGIN, "save": {"token": "$.tokens"}}
    trial, parts = parts_of(tmp_path, "pycurl", port, lost, ORDER)
    with pytest.raises(
        CannotTry, match=r"call 2 of 2: token is saved from \$.tokens, where the reply before has 0 values"
    ):
        check(trial, parts, parts.make(1, lambda: 0))
    wrong = {**ORDER, "expect": {"values": {"$.of": "{token}"}}}
    trial, parts = parts_of(tmp_path, "pycurl", port, LOGIN, wrong)
    with pytest.raises(CannotTry, match=r"call 2 of 2: row 1: \$.of is 'ann', not '\*\*\*'"):
        check(trial, parts, parts.make(1, lambda: 0))


@pytest.mark.parametrize("client", CLIENTS)
def test_redirects_are_followed_where_the_call_says_so_and_counted(tmp_path: Path, port: int, client: str) -> None:
    to_old = step(
        "POST /old", body={"text": "a"}, redirects="follow", expect={"values": {"$.method": "GET", "$.body": ""}}
    )
    kept = step(
        "PUT /kept", body={"text": "b"}, redirects="follow", expect={"values": {"$.method": "PUT", "$.body": "b"}}
    )
    trial, parts = parts_of(tmp_path, client, port, to_old, kept)
    check(trial, parts, parts.make(1, lambda: 0))
    assert parts.verify.outcomes == {"redirects followed": 2}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("request_line", "more", "reason"),
    [
        ("GET /old", {}, "HTTP 302, a redirect to .*/what: `redirects: follow` follows it"),
        ("GET /round", {"redirects": "follow"}, "more than 10 redirects"),
        ("GET /away", {"redirects": "follow"}, "a redirect to another server is not followed: http://127.0.0.2:1/what"),
    ],
)
@pytest.mark.parametrize("client", ["pycurl", "aiohttp"])
def test_a_redirect_that_is_not_followed_is_an_error(
    tmp_path: Path, port: int, client: str, request_line: str, more: dict[str, str], reason: str
) -> None:
    trial, parts = parts_of(tmp_path, client, port, step(request_line, **more))
    with pytest.raises(CannotTry, match=reason):
        check(trial, parts, parts.make(1, lambda: 0))


@pytest.mark.parametrize("client", CLIENTS)
def test_compressed_replies_are_unpacked_where_they_are_offered_and_counted(
    tmp_path: Path, port: int, client: str
) -> None:
    offering = step("GET /x", headers={"Accept-Encoding": "gzip"}, expect={"values": {"$.path": "/x"}})
    trial, parts = parts_of(tmp_path, client, port, offering)
    _, (_, received) = check(trial, parts, parts.make(1, lambda: 0))
    assert parts.verify.outcomes == {"replies compressed by gzip": 1}  # type: ignore[attr-defined]
    assert received == len(gzip.compress(json.dumps({"method": "GET", "body": "", "path": "/x"}).encode()))


@pytest.mark.parametrize("client", CLIENTS)
def test_each_step_has_its_own_method_and_body(tmp_path: Path, port: int, client: str) -> None:
    steps = [
        step(
            f"{method} /m", body={"text": body} if body else {}, expect={"values": {"$.method": method, "$.body": body}}
        )
        for method, body in (("GET", ""), ("POST", "a"), ("DELETE", ""), ("PUT", "b"), ("POST", ""), ("GET", ""))
    ]
    steps.insert(2, step("HEAD /m", expect={"status": [200]}))
    trial, parts = parts_of(tmp_path, client, port, *steps)
    check(trial, parts, parts.make(1, lambda: 0))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return certificates(tmp_path_factory.mktemp("tls") / "right")


@pytest.fixture(scope="module")
def secured(made: Made) -> Iterator[int]:
    """A service that takes those alone who have a certificate of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.tls.certificate, made.tls.key)
    context.load_verify_locations(made.authority.path)
    context.verify_mode = ssl.CERT_REQUIRED
    yield from served(context)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_service_that_wants_a_certificate_gets_it(tmp_path: Path, secured: int, made: Made, client: str) -> None:
    own = [made.tls.certificate, made.tls.key]
    ask = {"authority": made.authority}
    trial, parts = parts_of(tmp_path, client, secured, step("GET /x"), certificate=own, **ask)
    check(trial, parts, parts.make(1, lambda: 0))
    trial, parts = parts_of(tmp_path, client, secured, step("GET /x"), **ask)
    with pytest.raises(CannotTry):
        check(trial, parts, parts.make(1, lambda: 0))


@pytest.mark.parametrize("client", ["pycurl", "pycurl-multi", "httpx", "httpx-async"])
def test_steps_go_over_http_2_where_the_client_has_it(tmp_path: Path, client: str) -> None:
    adding = step("POST /add", body={"json": {"a": 1, "b": 2}}, expect={"values": {"$.sum": 3}}, save={"sum": "$.sum"})
    again = step("POST /add", body={"json": {"a": "{sum}", "b": 2}}, expect={"values": {"$.sum": 5}})
    with responder("http+json", implementation="asgi-granian", knobs={"http": "2"}) as (_, ready):
        trial, _ = parts_of(tmp_path, client, ready["port"], adding, again)
        trial = replace(trial, knobs={"http": "2"})
        parts = load_parts(trial)
        check(trial, parts, parts.make(1, lambda: 0))
