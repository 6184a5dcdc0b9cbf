"""GraphQL answered by Strawberry's ASGI application on granian, which speaks HTTP/1.1 and HTTP/2."""

from __future__ import annotations

from services.python.protocols.graphql.responder import application
from services.python.protocols.graphql.schema import schema
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.granian import serve_granian


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_granian(application(dispatcher, schema), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls)
