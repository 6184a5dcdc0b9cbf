"""Sends events by Strawberry's ASGI application, over WebSocket on uvicorn."""

from __future__ import annotations

from typing import Any

from strawberry import Schema
from strawberry.asgi import GraphQL
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from services.python.protocols.graphqlws.schema import Context, make_schema
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http import asgi


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    app = application(dispatcher, make_schema())
    asgi.serve(app, dispatcher, host, port, announce, websocket=True)


def application(dispatcher: Dispatcher, schema: Schema) -> GraphQL[Context, None]:
    """The ASGI application; what its resolvers need is in their context."""

    class Application(GraphQL[Context, None]):
        async def get_context(self, request: Any, response: Any) -> Context:  # noqa: ARG002 - Strawberry's signature
            return {"dispatcher": dispatcher, "peer": asgi.peer_of(request.scope)}

    return Application(
        schema,
        graphql_ide=None,
        subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL,),
        max_subscriptions_per_connection=1,
    )
