"""Protocol Buffers alone: encoded and decoded, and nobody asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.python.codecs.alone import REQUEST, Dialer, of_codec
from services.python.codecs.alone import Message as Alone
from services.python.codecs.evolution import dialer as across_schemas
from services.python.codecs.evolution import is_evolution
from services.python.codecs.protobuf import CODEC, Message, coder, method_for, methods
from services.python.contract.offers import Client
from services.python.load.client import CallSpec


def dialer(call: CallSpec, client: Client) -> Dialer:
    """Codes the operation's messages; every field is read, but by `protobuf-parse-only`. CallFailed as `method_for`."""
    if is_evolution(call):
        from services.python.codecs.evolving_protobuf import evolve, request

        return across_schemas(evolve, request(), call)
    method_for(call.operation, call.example[REQUEST])
    if client.omits:
        asked, reply = _parsing(call.operation)
        return Dialer(asked, reply, errors=CODEC.errors, call=call)
    return of_codec(CODEC, call)


def _parsed(kind: Any, pack: Callable[..., Message], unpack: Callable[[Message], dict[str, Any]]) -> Alone:
    return Alone(write=coder(kind, pack, unpack).write, read=kind.FromString, value=unpack)


def _parsing(operation: str) -> tuple[Alone, Alone]:
    """An operation's request and reply for whoever passes them on: parsed, and read when nobody times it."""
    method = methods()[operation]
    return (
        _parsed(method.request, method.pack_request, method.unpack_request),
        _parsed(method.reply, method.pack_reply, method.unpack_reply),
    )
