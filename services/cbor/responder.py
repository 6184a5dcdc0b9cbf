"""CBOR answered by FastAPI."""

from __future__ import annotations

from services.cbor.codec import CODEC
from services.harness.desk import Desk
from services.harness.responder_api import Announce
from services.http.asgi import serve_asgi
from services.http.binary_app import application


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """See `responder_api.Serve`."""
    serve_asgi(application(desk, CODEC), host, port, announce)
