"""GraphQL answered by Strawberry with its own two caches: a query's text is parsed and validated once."""

from __future__ import annotations

import strawberry
from strawberry.extensions import ParserCache, ValidationCache

from services.graphql.responder import application
from services.graphql.schema import Query
from services.harness.desk import Desk
from services.harness.responder_api import Announce
from services.http.asgi import serve_asgi

_ENTRIES = 128


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """See `responder_api.Serve`."""
    serve_asgi(application(desk, cached_schema()), host, port, announce)


def cached_schema() -> strawberry.Schema:
    """The schema with both caches."""
    extensions = [lambda: ParserCache(maxsize=_ENTRIES), lambda: ValidationCache(maxsize=_ENTRIES)]
    return strawberry.Schema(query=Query, extensions=extensions)
