"""MessagePack alone: encoded and decoded, and nobody asked."""

from __future__ import annotations

from services.python.codecs.alone import Dialer
from services.python.codecs.evolution import of_codec
from services.python.codecs.msgpack import CODEC
from services.python.contract.offers import Client
from services.python.load.client import CallSpec


def dialer(call: CallSpec, client: Client) -> Dialer:  # noqa: ARG001 - a dialer's signature
    """Codes the operation's messages."""
    return of_codec(CODEC, call)
