"""The client of kind `codec`: encodes and decodes with one codec, and nobody is asked."""

from __future__ import annotations

import importlib

from services.python.codecs import alone, evolution
from services.python.codecs.alone import REQUEST, Dialer
from services.python.codecs.base import codec_named
from services.python.contract.offers import Client
from services.python.load.client import CallSpec


def dialer(call: CallSpec, client: Client) -> Dialer:
    """Codes the operation's messages; every field is read, unless the client `omits` that. CallFailed as `require`."""
    codec = codec_named(client.codec)
    if not evolution.is_evolution(call):
        codec.require(call.operation, call.example[REQUEST])
        return alone.of_codec(codec, call, is_parsed_only=bool(client.omits))
    if not client.loads:
        return evolution.of_codec(codec, call)
    (evolving,) = map(importlib.import_module, client.loads)
    return evolution.dialer(evolving.evolve, evolving.request(), call)
