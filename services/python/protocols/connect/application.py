"""Connect's unary calls answered by a bare ASGI application: the server passes it messages without a framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from services.python.codecs.protobuf import CODEC, methods, reply_coder, request_coder
from services.python.codecs.typed import typed_methods
from services.python.protocols.connect import wire
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of, respond, whole

_VERSION = wire.VERSION_FIELD.lower().encode()
_PLAIN = (b"", b"identity")

Procedure = tuple[str, Callable[[bytes], dict[str, Any]], Callable[[Mapping[str, Any]], bytes]]


class _Refused(Exception):
    """An error of Connect: its code, and what it says."""

    def __init__(self, code: str, message: str, status: int | None = None, *also: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.code = code
        self.status = wire.STATUSES[code] if status is None else status
        self.also = also


def application(dispatcher: Dispatcher) -> Any:
    """The ASGI application: one path for each procedure. ValueError for a schema that is none."""
    every = (*methods().items(), *typed_methods(dispatcher.schema).items())
    procedures = {
        f"/{method.service}/{method.name}": (operation, request_coder(method).read, reply_coder(method).write)
        for operation, method in every
        if not method.is_stream
    }

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = await whole(receive)
        try:
            operation, read, write = _found(procedures, scope, dict(scope["headers"]))
            reply = dispatcher.answer_async(operation, _read(read, body), peer_of(scope))
            if not isinstance(reply, dict):
                reply = await reply
        except _Refused as refused:
            failure = wire.error(refused.code, str(refused))
            await respond(send, refused.status, wire.ERROR_TYPE, failure, *refused.also)
        except (KeyError, ValueError) as error:
            code = "invalid_argument"
            failure = wire.error(code, f"{type(error).__name__}: {error}")
            await respond(send, wire.STATUSES[code], wire.ERROR_TYPE, failure)
        else:
            await respond(send, 200, wire.MEDIA_TYPE, write(reply))

    return app


def _found(procedures: Mapping[str, Procedure], scope: Mapping[str, Any], fields: Mapping[bytes, bytes]) -> Procedure:
    """What is asked for; _Refused where the request is none of Connect's, or none that is understood here."""
    procedure = procedures.get(scope["path"])
    if procedure is None:
        raise _Refused("unimplemented", f"no procedure {scope['path']}", 404)
    if scope["method"] != "POST":
        raise _Refused("unimplemented", "a message is posted", 405, (b"allow", b"POST"))
    media_type = fields.get(b"content-type", b"").decode("latin-1")
    if media_type != wire.MEDIA_TYPE:
        words = f"{media_type or 'no Content-Type'}, not {wire.MEDIA_TYPE}"
        raise _Refused("unknown", words, 415, (b"accept-post", wire.MEDIA_TYPE.encode()))
    version = fields.get(_VERSION, b"").decode("latin-1")
    if version not in ("", wire.VERSION):
        raise _Refused("invalid_argument", f"{wire.VERSION_FIELD}: {version}, not {wire.VERSION}")
    coding = fields.get(b"content-encoding", b"")
    if coding not in _PLAIN:
        words = f"Content-Encoding: {coding.decode('latin-1')}, of which nothing is known here"
        raise _Refused("unimplemented", words, None, (b"accept-encoding", b"identity"))
    return procedure


def _read(read: Callable[[bytes], dict[str, Any]], body: bytes) -> dict[str, Any]:
    try:
        return read(body)
    except CODEC.errors as error:
        raise _Refused("invalid_argument", f"not a message of this procedure: {error}") from error
