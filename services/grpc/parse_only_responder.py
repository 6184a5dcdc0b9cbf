"""Answers as `responder` does, but echoes the message that it parsed, its fields unread, as one who forwards would."""

from __future__ import annotations

from services.grpc.messages import FORWARDING
from services.grpc.responder import serve_methods
from services.harness.desk import Desk
from services.harness.responder_api import Announce


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    serve_methods(FORWARDING, desk, host, port, announce)
