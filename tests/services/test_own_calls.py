"""Every client calls a service that knows nothing of orch: method, path, header fields and body as the call has them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.contract.offers import find_protocol
from services.python.load.record import read_record
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


def trial_of(folder: Path, port: int, client: str, requests: int = 0, **call: Any) -> Trial:
    described = {"kind": "http", "method": "GET", "path": "/", "headers": {}, "body": {}, "decode": True}
    described |= {"order": "file", "expect": {}, "same": {}, "rows": [{"id": "a b"}], **call}
    content = json.dumps(described).encode()
    (folder / "call.json").write_bytes(content)
    return Trial(
        protocol=f"own_{described['kind']}",
        client=client,
        operation="call",
        record=str(folder / "r"),
        target=Target(host="localhost", port=port, anonymous=True),
        payload=Payload(kind="call", path=str(folder / "call.json"), sha256=hashlib.sha256(content).hexdigest()),
        load=Load(requests=requests, concurrency=2),
        warmup=Warmup(requests=2, at_least_s=0.0),
        timeout_s=5.0,
    )


def asked(folder: Path, port: int, client: str, **call: Any) -> tuple[Any, ...]:
    """The check of a trial: it raises CannotTry unless the reply is right."""
    trial = trial_of(folder, port, client, **call)
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


REQUESTER = Path(__file__).parents[2] / "services" / "go" / "build" / "request"


def compiled(trial: Trial) -> tuple[dict[str, Any], str]:
    """The last line of the compiled requester, and all that it said."""
    with subprocess.Popen([REQUESTER], stdin=-1, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(trial.to_json() + "\n")
        process.stdin.flush()  # it stays open: the requester ends with it
        said = process.stdout.read()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return lines[-1], said


@pytest.mark.skipif(not REQUESTER.exists(), reason="`make native` builds the compiled requester")
class TestCompiled:
    """The requester in Go keeps the same promises."""

    def test_what_is_sent_and_expected_is_what_the_call_says(self, tmp_path: Path, port: int) -> None:
        rows = [{"id": f"a {number}", "seen": f"/o/a%20{number}"} for number in range(5)]
        seen = {"$.method": "PUT", "$.path": "{seen}", "$['x']": "{id}", "$.body": '{"a":1}'}
        call = {"method": "PUT", "path": "/o/{id}", "headers": {"X-Id": "{id}"}, "body": {"json": {"a": 1}}}
        trial = trial_of(tmp_path, port, "go-net-http", 40, expect={"values": seen}, rows=rows, order="random", **call)
        done, _ = compiled(trial)
        assert (done["type"], done["errors"], done["verified"]) == ("done", {}, 40)
        assert {row.bytes_sent for row in read_record(trial.record)} == {7}

    def test_a_wrong_reply_is_an_error_and_no_latency(self, tmp_path: Path, port: int) -> None:
        rows = [{"id": str(number), "path": f"/{number if number != 3 else 4}"} for number in range(5)]
        call = {"path": "/{id}", "expect": {"values": {"$.path": "{path}"}}}
        done, _ = compiled(trial_of(tmp_path, port, "go-net-http", 40, rows=rows, **call))
        assert (done["errors"], done["verified"]) == ({"wrong-reply": 8}, 32)
        assert done["error_examples"] == {"wrong-reply": 'row 4: $["path"] is "/3", not "/4"'}

    @pytest.mark.parametrize(
        ("changes", "kind", "reason"),
        [
            ({"path": "/status/404"}, "protocol", "HTTP 404"),
            ({"path": "/status/404", "expect": {"status": [404]}}, "", ""),
            ({"path": "/status/302"}, "protocol", "HTTP 302"),
            ({"path": "/text"}, "undecodable", "in not JSON"),
            ({"path": "/text", "decode": False, "expect": {"size": 8}}, "", ""),
            ({"path": "/text", "decode": False, "expect": {"size": 7}}, "wrong-reply", "8 bytes, not 7"),
            ({"expect": {"sha256": "0" * 64}}, "wrong-reply", "SHA-256"),
            ({"expect": {"values": {"$.lost": 1}}}, "wrong-reply", "nothing at"),
            ({"expect": {"values": {"$[?@ != 'x']": 1}}}, "wrong-reply", "4 values at"),
            ({"expect": {"values": {"$.x": "other"}}}, "wrong-reply", '$["x"] is "***", not "other"'),
            ({"body": {"json": "{id:number}"}}, "trial", "row 1"),
            ({"kind": "websocket", "send": "x"}, "trial", "own_websocket"),
        ],
    )
    def test_other_replies_are_refused_without_the_secret(
        self,
        tmp_path: Path,
        port: int,
        monkeypatch: pytest.MonkeyPatch,
        changes: dict[str, Any],
        kind: str,
        reason: str,
    ) -> None:
        monkeypatch.setenv("ORCH_TEST_TOKEN", "s3cret")
        call = {"headers": {"x-id": "${ORCH_TEST_TOKEN}"}, **changes}
        last, said = compiled(trial_of(tmp_path, port, "go-net-http", **call))
        assert (last["type"], last.get("kind", "")) == ("failed" if kind else "done", kind)
        assert reason in last.get("message", "")
        assert "s3cret" not in said
