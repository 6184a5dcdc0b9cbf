"""GraphQL answered by Strawberry with its own two caches: a query's text is parsed and validated once."""

from __future__ import annotations

import strawberry
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache

from services.python.protocols.graphql import responder
from services.python.protocols.graphql.schema import Context, query
from services.python.serve.dispatcher import Dispatcher

_ENTRIES = 128


def application(dispatcher: Dispatcher) -> GraphQL[Context, None]:
    """The ASGI application."""
    return responder.application(dispatcher, cached_schema())


def cached_schema() -> strawberry.Schema:
    """The schema with both caches."""
    extensions = [lambda: ParserCache(maxsize=_ENTRIES), lambda: ValidationCache(maxsize=_ENTRIES)]
    return strawberry.Schema(query=query(), extensions=extensions)
