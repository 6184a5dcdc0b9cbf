"""Protocol Buffers answered by Starlette alone."""

from __future__ import annotations

from services.python.codecs.by_schema import codec
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.starlette_bodies import serving


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; see `serve.responder`."""
    serving(codec(dispatcher.schema))(dispatcher, host, port, announce)
