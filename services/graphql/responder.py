"""GraphQL answered by Strawberry's ASGI application."""

from __future__ import annotations

from typing import Any

from strawberry import Schema
from strawberry.asgi import GraphQL

from services.graphql.schema import Context, schema
from services.harness.desk import Desk
from services.harness.responder_api import Announce
from services.http.asgi import peer_of, serve_asgi


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """See `responder_api.Serve`."""
    serve_asgi(application(desk, schema), host, port, announce)


def application(desk: Desk, schema: Schema) -> GraphQL[Context, None]:
    """The ASGI application; what its resolvers need is in their context."""

    class Application(GraphQL[Context, None]):
        async def get_context(self, request: Any, response: Any) -> Context:  # noqa: ARG002 - Strawberry's signature
            return {"desk": desk, "peer": peer_of(request.scope)}

    return Application(schema, graphql_ide=None)
