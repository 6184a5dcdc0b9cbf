"""GraphQL answered by Strawberry's ASGI application."""

from __future__ import annotations

from typing import Any

from strawberry import Schema
from strawberry.asgi import GraphQL

from services.python.contract.knobs import BATCHING, DATALOADER
from services.python.protocols.graphql.schema import Context, schema
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of


def application(dispatcher: Dispatcher, schema: Schema = schema) -> GraphQL[Context, None]:
    """The ASGI application; what its resolvers need is in their context."""
    has_loader = dispatcher.knobs.get(BATCHING) == DATALOADER
    if has_loader:
        from services.python.protocols.graphql.batching import comment_loader

    class Application(GraphQL[Context, None]):
        async def get_context(self, request: Any, response: Any) -> Context:  # noqa: ARG002 - Strawberry's signature
            comments = comment_loader(dispatcher) if has_loader else None
            return {"dispatcher": dispatcher, "peer": peer_of(request.scope), "comments": comments}

    return Application(schema, graphql_ide=None)
