"""REST answered by Starlette on granian, which speaks HTTP/1.1 and HTTP/2; all else as on uvicorn."""

from __future__ import annotations

from services.python.protocols.rest.starlette_responder import application
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.granian import serve_granian


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_granian(
        application(dispatcher),
        host,
        port,
        announce,
        knobs=dispatcher.knobs,
        tls=dispatcher.tls,
        shared=dispatcher.listener,
    )
