"""Avro alone: encoded and decoded, and nobody asked."""

from __future__ import annotations

from services.python.codecs.alone import Dialer, of_codec
from services.python.codecs.avro import CODEC
from services.python.codecs.evolution import dialer as across_schemas
from services.python.codecs.evolution import is_evolution
from services.python.contract.offers import Client
from services.python.load.client import CallSpec


def dialer(call: CallSpec, client: Client) -> Dialer:  # noqa: ARG001 - a dialer's signature
    """Codes the operation's messages."""
    if is_evolution(call):
        from services.python.codecs.evolving_avro import REQUEST, evolve

        return across_schemas(evolve, REQUEST, call)
    return of_codec(CODEC, call)
