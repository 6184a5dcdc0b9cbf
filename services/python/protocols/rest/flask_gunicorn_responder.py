"""REST answered by Flask behind gunicorn, a production WSGI server."""

from __future__ import annotations

from services.python.protocols.rest.flask_app import served
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.wsgi import serve_gunicorn


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_gunicorn(
        served(dispatcher), host, port, announce, dispatcher.tls, dispatcher.listener, threads=dispatcher.threads
    )
