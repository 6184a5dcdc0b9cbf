"""Protocol Buffers alone: encoded and decoded, and nobody asked."""

from __future__ import annotations

from services.python.codecs.alone import REPLY, REQUEST, Dialer, of_codec
from services.python.codecs.protobuf import CODEC, method_for, parsing
from services.python.contract.offers import Client
from services.python.load.client import CallSpec


def dialer(call: CallSpec, client: Client) -> Dialer:
    """Codes the operation's messages; every field is read, but by `protobuf-parse-only`. CallFailed as `method_for`."""
    method_for(call.operation, call.example[REQUEST])
    if client.omits:
        request, reply = parsing(call.operation)
        is_one_message = call.example[REQUEST] == call.example[REPLY]
        return Dialer(request, reply, errors=CODEC.errors, call=call, is_one_message=is_one_message)
    return of_codec(CODEC, call)
