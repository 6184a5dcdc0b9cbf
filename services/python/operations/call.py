"""`call`: a request to somebody's own service, as a call file describes it; rendered before anything is timed.

A call file is JSON (protos/calls.md): the call's templates, the rows of its data, and what a right reply has.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

from services.python.contract import templates
from services.python.contract.descriptors import method_of, values_of
from services.python.contract.generator import below, words
from services.python.contract.lines import Payload
from services.python.contract.messages import CALL
from services.python.operations import base
from services.python.operations.base import Lasting
from services.python.operations.files import read_checked

HTTP, GRAPHQL, WEBSOCKET, GRPC = "http", "graphql", "websocket", "grpc"
SOCKETIO, SSE = "socketio", "sse"
JSON_TYPE = "application/json"
OFFER = "accept-encoding"
_RIGHT = "right"
REDIRECTS, COMPRESSED = "redirects followed", "replies compressed by"


def _requests(payload: Payload, seed: int) -> base.Make:
    """The requests of all rows, in the file's order or in one that the seed draws."""
    base.expect_kind("call", payload, "call")
    call = read_call(payload)
    rows = rendered(call)
    if call["order"] == "random":
        for place, word in enumerate(words(f"rows/{seed}", len(rows))):  # Fisher and Yates, from the front
            other = place + below(word, len(rows) - place)
            rows[place], rows[other] = rows[other], rows[place]
    requests = [request for row in rows for request in row]
    count = len(requests)
    return lambda sequence, _wall_clock_ns: requests[(sequence - 1) % count]


def read_call(payload: Payload) -> dict[str, Any]:
    """Return a call file's content; PayloadError for another file than was planned."""
    call: dict[str, Any] = json.loads(read_checked("call", payload))
    return call


def certificate_of(payload: Payload) -> list[str]:
    """Return the files of the requester's own certificate and its key, if a call file names them; PayloadError."""
    files: list[str] = read_call(payload).get("certificate", [])
    return files


def secrets_of(payload: Payload) -> list[str]:
    """Return the values of the secrets that a call file names; none where it cannot be read, which is told later."""
    try:
        call = read_call(payload)
    except ValueError:
        return []
    return [os.environ[name] for name in templates.secrets(call) if name in os.environ]


def steps_of(call: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the steps of a call file; one that has none is its only step."""
    return call.get("steps") or (call,)


def rendered(call: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the requests of each row, one for each step; PayloadError where a template has no value.

    Each has `row` (from 1), `kind`, `expect` and the `call` of its step, and what its kind sends. One that needs a value
    saved from an earlier reply has a placeholder of it until `follow` renders it again from `values`.
    """
    alike: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}  # header fields: one mapping for those that are alike
    rows = []
    steps, saved = [], dict[str, str]()
    unpacks = any(OFFER in map(str.lower, step["headers"]) for step in steps_of(call))
    for step in steps_of(call):
        steps.append((step, dict(saved), bool(saved.keys() & {*templates.columns(step)})))
        saved |= dict.fromkeys(step.get("save", ()), templates.PLACEHOLDER)
    for number, row in enumerate(call["rows"], start=1):
        requests = []
        for step, before, is_late in steps:
            try:
                request = _request(number, step, {**row, **before})
            except KeyError as error:
                raise base.PayloadError(
                    f"call: row {number} has no value for {error.args[0]!r}, nor has the environment"
                ) from None
            except ValueError as error:
                raise base.PayloadError(f"call: row {number}: {error}") from error
            if "headers" in request:
                request["headers"] = alike.setdefault((*request["headers"].items(),), request["headers"])
            request["unpacks"] = unpacks
            if is_late:
                request["values"] = row
            requests.append(request)
        rows.append(requests)
    return rows


def follow(request: base.Request, saved: dict[str, Any], previous: base.Request, reply: base.Reply) -> base.Request:
    """Return the request of a step with values saved from earlier replies; ValueError where a reply has no such value.

    `saved` holds those of a task, and is given what the previous step saves from its reply.
    """
    for name, path in previous["call"].get("save", {}).items():
        values = values_at(document_of(reply), path)
        if len(values) != 1:
            raise ValueError(f"{name} is saved from {path}, where the reply before has {len(values)} values")
        saved[name] = values[0]
    if "values" not in request:
        return request
    return {**_request(request["row"], request["call"], {**request["values"], **saved}), "saved": dict(saved)}


def _request(number: int, step: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    expect = templates.render(step["expect"], row, os.environ)
    return Lasting(row=number, kind=step["kind"], expect=expect, call=step, **_RENDERS[step["kind"]](step, row))


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
    usual = {OFFER: "identity", "user-agent": "orch"}
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


def _socketio(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    send = templates.render(call["send"], row, os.environ)
    return {**_http({**call, "method": "GET", "body": {}}, row), "event": call["event"], "send": send}


def _sse(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    request = _http(call, row)
    return {**request, "headers": {"accept": "text/event-stream", **request["headers"]}}


def _grpc(call: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    method = method_of(call["descriptors"], call["method"])
    metadata = templates.render(call["headers"], row, os.environ)
    return {
        "method": method,
        "message": method.request(templates.render(call["message"], row, os.environ)).SerializeToString(),
        "metadata": tuple((name.lower(), templates.written(text)) for name, text in metadata.items()),
    }


_RENDERS = {HTTP: _http, GRAPHQL: _graphql, WEBSOCKET: _websocket, SOCKETIO: _socketio, SSE: _sse, GRPC: _grpc}


def _compact(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


class Verified:
    """What `verify` is in a trial: counts redirects that were followed, and replies that came compressed.

    A row's reply with the status and body of one that was right is right: what stands between two requests stays short.
    """

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def __call__(self, request: base.Request, reply: base.Reply) -> str | None:
        if redirects := reply.get("redirects"):
            self.outcomes[REDIRECTS] += redirects
        if coding := reply.get("coding"):
            self.outcomes[f"{COMPRESSED} {coding}"] += 1
        looks = None if (body := reply.get("body")) is None else (reply["status"], hash(body))
        if looks is not None and request.get(_RIGHT) == looks:
            return None
        if (reason := _verify(request, reply)) is None and isinstance(request, dict):
            request[_RIGHT] = looks
        return reason


def _verify(request: base.Request, reply: base.Reply) -> str | None:
    """Why a reply is not what the call expects: its status, size, digest, or a value at a JSONPath."""
    expect, body = request["expect"], body_of(reply)
    if (wanted := expect.get("status")) and reply["status"] not in wanted:
        return _hidden(request, f"status {reply['status']}, not {' or '.join(map(str, wanted))}: {base.shorten(body)}")
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


def body_of(reply: base.Reply) -> bytes:
    """Return the bytes of a reply's body or message; of Socket.IO its acknowledgement as JSON."""
    body = reply["body"] if "body" in reply else _compact(reply["document"])
    return body.encode() if isinstance(body, str) else bytes(body)


def document_of(reply: base.Reply) -> Any:
    """Return the reply as a JSON value; None where it is none."""
    if "document" in reply:
        return reply["document"]
    if "messages" in reply:
        method = reply["method"]
        documents = [values_of(method.reply.FromString(m) if isinstance(m, bytes) else m) for m in reply["messages"]]
        return documents if method.is_stream else documents[0]
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
    return None if is_same(got[0], wanted) else f"{path} is {base.shorten(got[0])}, not {base.shorten(wanted)}"


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


def _hidden(request: base.Request, text: str) -> str:
    for value in request.get("saved", {}).values():
        text = text.replace(value, templates.HIDDEN) if isinstance(value, str) and value else text
    return templates.hidden(text, request["call"], os.environ)


def _answer(request: base.Request, wall_clock_ns: base.WallClockNs) -> NoReturn:  # noqa: ARG001 - nobody here answers it
    raise ValueError("`call` is answered by somebody's own service")


OPERATION = base.Operation(
    name="call",
    message=CALL,
    payloads=("call",),
    requests=_requests,
    answer=_answer,
    verify=_verify,
    follow=follow,
    verified=Verified,
)
