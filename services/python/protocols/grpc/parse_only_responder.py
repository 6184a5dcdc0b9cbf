"""Answers as `responder` does, but echoes the message that it parsed, its fields unread, as one who forwards would."""

from __future__ import annotations

from services.python.codecs.protobuf import forwarding
from services.python.protocols.grpc.responder import serve_methods
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    serve_methods(forwarding, dispatcher, host, port, announce, is_forwarded=True)
