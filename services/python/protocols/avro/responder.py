"""Avro answered by FastAPI."""

from __future__ import annotations

from services.python.codecs.avro import CODEC
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import serve_asgi
from services.python.transports.http.binary_app import application


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(application(dispatcher, CODEC), host, port, announce, knobs=dispatcher.knobs)
