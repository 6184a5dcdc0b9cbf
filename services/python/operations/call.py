"""`call`: a request to somebody's own service, as a call file describes it; rendered before anything is timed.

A call file is JSON (protos/calls.md): the call's templates, the rows of its data, and what a right reply has.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

from services.python.contract import templates
from services.python.contract.descriptors import method_of
from services.python.contract.generator import below, words
from services.python.contract.lines import Payload
from services.python.contract.messages import CALL
from services.python.operations.base import (
    Lasting,
    Make,
    Operation,
    PayloadError,
    Reply,
    Request,
    WallClockNs,
    expect_kind,
    shorten,
)
from services.python.operations.files import read_checked

HTTP, GRAPHQL, WEBSOCKET, GRPC = "http", "graphql", "websocket", "grpc"
JSON_TYPE = "application/json"


def _requests(payload: Payload, seed: int) -> Make:
    """The requests of all rows, in the file's order or in one that the seed draws."""
    expect_kind("call", payload, "call")
    call = read_call(payload)
    requests = [*rendered(call)]
    if call["order"] == "random":
        for place, word in enumerate(words(f"rows/{seed}", len(requests))):  # Fisher and Yates, from the front
            other = place + below(word, len(requests) - place)
            requests[place], requests[other] = requests[other], requests[place]
    count = len(requests)
    return lambda sequence, _wall_clock_ns: requests[(sequence - 1) % count]


def read_call(payload: Payload) -> dict[str, Any]:
    """Return a call file's content; PayloadError for another file than was planned."""
    call: dict[str, Any] = json.loads(read_checked("call", payload))
    return call


def secrets_of(payload: Payload) -> list[str]:
    """Return the values of the secrets that a call file names; none where it cannot be read, which is told later."""
    try:
        call = read_call(payload)
    except ValueError:
        return []
    return [os.environ[name] for name in templates.secrets(call) if name in os.environ]


def rendered(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the request of each row; PayloadError where a template has no value.

    Each has `row` (from 1), `kind`, `expect` and the `call`, and what its kind sends.
    """
    render = _RENDERS[call["kind"]]
    requests: list[dict[str, Any]] = []
    alike: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}  # header fields: one mapping for those that are alike
    for number, row in enumerate(call["rows"], start=1):
        try:
            request = render(call, row)
            expect = templates.render(call["expect"], row, os.environ)
        except KeyError as error:
            raise PayloadError(
                f"call: row {number} has no value for {error.args[0]!r}, nor has the environment"
            ) from None
        except ValueError as error:
            raise PayloadError(f"call: row {number}: {error}") from error
        if "headers" in request:
            request["headers"] = alike.setdefault((*request["headers"].items(),), request["headers"])
        requests.append(Lasting(row=number, kind=call["kind"], expect=expect, call=call, **request))
    return requests


def _http(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    headers = {name.lower(): text for name, text in templates.render(call["headers"], row, os.environ).items()}
    body = call["body"]
    content, media_type = b"", ""
    if "json" in body:
        content, media_type = _compact(templates.render(body["json"], row, os.environ)), JSON_TYPE
    elif "form" in body:
        fields = templates.render(body["form"], row, os.environ)
        content = urlencode({name: templates.written(value) for name, value in fields.items()}).encode()
        media_type = "application/x-www-form-urlencoded"
    elif "text" in body:
        content = templates.written(templates.render(body["text"], row, os.environ)).encode()
    elif "hex" in body:
        content = bytes.fromhex(body["hex"])
    usual = {"accept-encoding": "identity", "user-agent": "orch"}
    if media_type:
        usual["content-type"] = media_type
    return {
        "method": call["method"],
        "path": templates.render(call["path"], row, os.environ, lambda text: quote(text, safe="")),
        "headers": {**usual, **{name: templates.written(text) for name, text in headers.items()}},
        "body": content,
    }


def _graphql(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    variables = templates.render(call["variables"], row, os.environ)
    request = {**call, "method": "POST", "body": {"json": {}}}
    return {**_http(request, row), "body": _compact({"query": call["query"], "variables": variables})}


def _websocket(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    send = templates.render(call["send"], row, os.environ)
    text = send if isinstance(call["send"], str) else _compact(send).decode()
    return {**_http({**call, "method": "GET", "body": {}}, row), "send": templates.written(text)}


def _grpc(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    method = method_of(call["descriptors"], call["method"])
    metadata = templates.render(call["headers"], row, os.environ)
    return {
        "message": method.request(templates.render(call["message"], row, os.environ)),
        "metadata": tuple((name.lower(), templates.written(text)) for name, text in metadata.items()),
    }


_RENDERS = {HTTP: _http, GRAPHQL: _graphql, WEBSOCKET: _websocket, GRPC: _grpc}


def _compact(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _verify(request: Request, reply: Reply) -> str | None:
    """Why a reply is not what the call expects: its status, size, digest, or a value at a JSONPath."""
    expect, body = request["expect"], body_of(reply)
    if (wanted := expect.get("status")) and reply["status"] not in wanted:
        return _hidden(request, f"status {reply['status']}, not {' or '.join(map(str, wanted))}: {shorten(body)}")
    if (size := expect.get("size")) is not None and len(body) != size:
        return f"a reply of {len(body):,} bytes, not {size:,}"
    if (digest := expect.get("sha256")) and (came := hashlib.sha256(body).hexdigest()) != digest:
        return f"a reply with SHA-256 {came[:12]}..., not {digest[:12]}..."
    if not (values := expect.get("values")):
        return None
    document = document_of(reply)
    for path, value in values.items():
        if reason := _differs(document, path, value):
            return _hidden(request, f"row {request['row']}: {reason}")
    return None


def body_of(reply: Reply) -> bytes:
    """Return the bytes of a reply's body or message."""
    body = reply["body"]
    return body.encode() if isinstance(body, str) else bytes(body)


def document_of(reply: Reply) -> Any:
    """Return the reply as a JSON value; None where it is none."""
    if "document" in reply:
        return reply["document"]
    try:
        return json.loads(reply["body"])
    except ValueError:
        return None


def values_at(document: Any, path: str) -> list[Any]:
    """Return the values that a JSONPath (RFC 9535) finds in a document."""
    return list(_compiled(path).find(document).values())


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    import jsonpath_rfc9535

    return jsonpath_rfc9535.compile(path)


def _differs(document: Any, path: str, wanted: Any) -> str | None:
    got = values_at(document, path)
    if not got:
        return f"the reply has nothing at {path}"
    if len(got) > 1:
        return f"the reply has {len(got)} values at {path}, and one is expected"
    return None if is_same(got[0], wanted) else f"{path} is {shorten(got[0])}, not {shorten(wanted)}"


def is_same(value: Any, other: Any) -> bool:
    """Return whether two values are equal; a text also equals what it is the text of: CSV and int64 have no other form."""
    if isinstance(value, dict | list) or isinstance(other, dict | list):
        return bool(value == other)
    if isinstance(value, str) or isinstance(other, str):
        return templates.written(value) == templates.written(other)
    return (type(value) is type(other) and value == other) or (
        _is_number(value) and _is_number(other) and value == other
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _hidden(request: Request, text: str) -> str:
    return templates.hidden(text, request["call"], os.environ)


def _answer(request: Request, wall_clock_ns: WallClockNs) -> NoReturn:  # noqa: ARG001 - nobody here answers it
    raise ValueError("`call` is answered by somebody's own service")


OPERATION = Operation(name="call", message=CALL, payloads=("call",), requests=_requests, answer=_answer, verify=_verify)
