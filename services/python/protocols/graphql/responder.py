"""GraphQL answered by Strawberry's ASGI application."""

from __future__ import annotations

from typing import Any

from strawberry import Schema
from strawberry.asgi import GraphQL

from services.python.protocols.graphql.schema import Context, schema
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import peer_of, serve_asgi


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(application(dispatcher, schema), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls)


def application(dispatcher: Dispatcher, schema: Schema) -> GraphQL[Context, None]:
    """The ASGI application; what its resolvers need is in their context."""

    class Application(GraphQL[Context, None]):
        async def get_context(self, request: Any, response: Any) -> Context:  # noqa: ARG002 - Strawberry's signature
            return {"dispatcher": dispatcher, "peer": peer_of(request.scope)}

    return Application(schema, graphql_ide=None)
