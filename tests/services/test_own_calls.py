"""Every client calls a service that knows nothing of orch: method, path, header fields and body as the call has them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.contract.offers import find_protocol
from services.python.trial.parts import CannotTry, check, load_parts

pytestmark = pytest.mark.busy

CLIENTS = [client.name for client in find_protocol("own_http").clients]


class Service(BaseHTTPRequestHandler):
    """Answers what it was asked; the path `/status/404` with that status."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        seen = {"method": self.command, "path": self.path, "x": self.headers.get("x-id"), "body": body}
        status = int(self.path.rpartition("/")[2]) if self.path.startswith("/status/") else 200
        content = b"not JSON" if self.path == "/text" else json.dumps(seen).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def asked(folder: Path, port: int, client: str, **call: Any) -> tuple[Any, ...]:
    """The check of a trial: it raises CannotTry unless the reply is right."""
    described = {"kind": "http", "method": "GET", "path": "/", "headers": {}, "body": {}, "decode": True}
    described |= {"order": "file", "expect": {}, "same": {}, "rows": [{"id": "a b"}], **call}
    content = json.dumps(described).encode()
    (folder / "call.json").write_bytes(content)
    trial = Trial(
        protocol=f"own_{described['kind']}",
        client=client,
        operation="call",
        record=str(folder / "r"),
        target=Target(host="localhost", port=port, anonymous=True),
        payload=Payload(kind="call", path=str(folder / "call.json"), sha256=hashlib.sha256(content).hexdigest()),
        load=Load(requests=0),
        timeout_s=5.0,
    )
    parts = load_parts(trial)
    return check(trial, parts, parts.make(1, lambda: 0))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("method", "body", "content"), [("GET", {}, ""), ("PUT", {"json": {"a": 1}}, '{"a":1}'), ("DELETE", {}, "")]
)
def test_each_client_sends_what_the_call_says(
    tmp_path: Path, port: int, client: str, method: str, body: dict[str, Any], content: str
) -> None:
    seen = {"$.method": method, "$.path": "/o/a%20b?q=1", "$.x": "a b", "$.body": content}
    call = {"method": method, "path": "/o/{id}?q=1", "headers": {"X-Id": "{id}"}, "body": body}
    met, (sent, received) = asked(tmp_path, port, client, expect={"values": seen}, **call)
    assert met is None
    assert (sent, received > 0) == (len(content), True)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_status_that_is_no_success_counts_where_it_is_expected_alone(tmp_path: Path, port: int, client: str) -> None:
    asked(tmp_path, port, client, path="/status/404", expect={"status": [404]})
    with pytest.raises(CannotTry, match="HTTP 404") as refused:
        asked(tmp_path, port, client, path="/status/404")
    assert refused.value.kind == "protocol"
    with pytest.raises(CannotTry, match="HTTP 302"):  # no redirect is followed
        asked(tmp_path, port, client, path="/status/302")


def test_a_reply_is_parsed_unless_bytes_are_wanted(tmp_path: Path, port: int) -> None:
    with pytest.raises(CannotTry) as refused:
        asked(tmp_path, port, "pycurl", path="/text")
    assert refused.value.kind == "undecodable"
    asked(tmp_path, port, "pycurl", path="/text", decode=False, expect={"size": 8})
