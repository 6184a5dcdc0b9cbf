"""Connect answered by a bare ASGI application; `serve` as in `serve.responder`."""

from __future__ import annotations

from services.python.protocols.connect.application import application
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import serve_asgi


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(application(dispatcher), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls)
