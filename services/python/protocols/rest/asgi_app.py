"""REST answered by a bare ASGI application: a table of paths stands between the server and the codec, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from services.python.codecs.json import CODEC, JSON, json_bytes
from services.python.contract.messages import ECHO, IDENTITY, IMAGE, TRANSFER, Message
from services.python.contract.strict import Part, part
from services.python.operations import OPERATIONS
from services.python.protocols.rest import PROTOCOL
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of, respond, whole
from services.python.transports.http.route import OCTETS


@part
class _Path(Part):
    """What a path answers: `read` makes the request of body and query, `write` the body of the reply."""

    operation: str
    read: Callable[[bytes, bytes], Mapping[str, Any]]
    write: Callable[[Mapping[str, Any]], bytes]
    media_type: str = JSON


def application(dispatcher: Dispatcher) -> Any:
    """The ASGI application: one path for each operation, and one for each form of an echo."""
    paths = {"/identity": _fields(IDENTITY.name, IDENTITY)}
    for operation in OPERATIONS.values():
        if PROTOCOL.carries(operation.message):
            paths |= _paths(operation.name, operation.message)

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = await whole(receive)
        path = paths.get(scope["path"])
        if path is None:
            await _refuse(send, 404, "no such path")
            return
        if scope["method"] != "POST":
            await _refuse(send, 405, "requests are posted")
            return
        try:
            reply = dispatcher.answer_async(path.operation, path.read(body, scope["query_string"]), peer_of(scope))
            if not isinstance(reply, dict):
                reply = await reply
        except (KeyError, ValueError) as error:
            await _refuse(send, 400, f"{type(error).__name__}: {error}")
            return
        await respond(send, 200, path.media_type, path.write(reply))

    return app


def _paths(operation: str, message: Message) -> dict[str, _Path]:
    if message.name == IMAGE.name:
        return {f"/{operation}": _Path(operation=operation, read=_picture, write=json_bytes)}
    if message.name == TRANSFER.name:
        return {f"/{operation}": _Path(operation=operation, read=_sized, write=_data, media_type=OCTETS)}
    if message.name == ECHO.name:
        data = _Path(operation=operation, read=lambda body, _: {"data": body}, write=_data, media_type=OCTETS)
        return {f"/{operation}/data": data} | {
            f"/{operation}/{form}": _bare_json(operation, form) for form in ("records", "document")
        }
    return {f"/{operation}": _fields(operation, message)}


def _fields(operation: str, message: Message) -> _Path:
    read = CODEC.request(message.name).read
    return _Path(operation=operation, read=lambda body, _: read(body), write=CODEC.reply(message.name).write)


def _bare_json(operation: str, form: str) -> _Path:
    return _Path(
        operation=operation,
        read=lambda body, _: {form: json.loads(body)},
        write=lambda reply: json_bytes(reply[form]),
    )


def _picture(body: bytes, query: bytes) -> Mapping[str, Any]:
    return {"data": body, "full_decode": _named(query).get("full_decode") == "true"}


def _sized(body: bytes, query: bytes) -> Mapping[str, Any]:
    return {"data": body, "reply_size": int(_named(query)["reply_size"])}


def _named(query: bytes) -> dict[str, str]:
    return dict(parse_qsl(query.decode()))


def _data(reply: Mapping[str, Any]) -> bytes:
    data: bytes = reply["data"]
    return data


async def _refuse(send: Any, status: int, why: str) -> None:
    await respond(send, status, JSON, json_bytes({"detail": why}))
