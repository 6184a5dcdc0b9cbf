"""GraphQL answered by Strawberry with its own two caches: a query's text is parsed and validated once."""

from __future__ import annotations

import strawberry
from strawberry.extensions import ParserCache, ValidationCache

from services.python.protocols.graphql.responder import application
from services.python.protocols.graphql.schema import query
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import serve_asgi

_ENTRIES = 128


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(
        application(dispatcher, cached_schema()), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls
    )


def cached_schema() -> strawberry.Schema:
    """The schema with both caches."""
    extensions = [lambda: ParserCache(maxsize=_ENTRIES), lambda: ValidationCache(maxsize=_ENTRIES)]
    return strawberry.Schema(query=query(), extensions=extensions)
