"""Protocol Buffers answered by a bare ASGI application on granian."""

from __future__ import annotations

from services.python.codecs.by_schema import codec
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi_bodies import serving_on_granian


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; see `serve.responder`."""
    serving_on_granian(codec(dispatcher.schema))(dispatcher, host, port, announce)
