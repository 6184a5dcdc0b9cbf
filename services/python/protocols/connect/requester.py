"""Asking in Connect, with every HTTP client."""

from __future__ import annotations

from services.python.codecs.protobuf import CODEC, reply_coder, request_coder
from services.python.codecs.typed import method_of
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallFailed, CallSpec, Dialer
from services.python.protocols.connect import wire
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import Route, shown

_ENDS = {"deadline_exceeded": "timeout", "canceled": "cancelled"}


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client; CallFailed when Protocol Buffers cannot carry the example request."""
    return dial_with(client, route(call), call)


def route(call: CallSpec) -> Route:
    """The procedure of the call's operation: that of gRPC, with the same messages."""
    method = method_of(call.operation, call.example, call.schema)
    return Route(
        path=f"/{method.service}/{method.name}",
        content_type=wire.MEDIA_TYPE,
        also={wire.VERSION_FIELD: wire.VERSION},
        encode=request_coder(method).write,
        decode=reply_coder(method).read,
        decode_errors=CODEC.errors,
        reply_type=wire.MEDIA_TYPE,
        failed=_failed,
    )


def _failed(status: int, body: bytes) -> CallFailed:
    code, message = wire.read_error(status, body)
    words = f"HTTP {status}: {shown(body)}" if message is None else message
    return CallFailed(_ENDS.get(code, "protocol"), f"{code}: {words}")
