"""GraphQL answered by Strawberry's ASGI application."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from strawberry import Schema
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader

from services.python.contract.knobs import BATCHING, DATALOADER
from services.python.contract.messages import FEED
from services.python.operations.posts import STEPS
from services.python.protocols.graphql.schema import Context, schema
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of

Key = tuple[int, int]


def application(dispatcher: Dispatcher, schema: Schema = schema) -> GraphQL[Context, None]:
    """The ASGI application; what its resolvers need is in their context."""
    has_loader = dispatcher.knobs.get(BATCHING) == DATALOADER

    class Application(GraphQL[Context, None]):
        async def get_context(self, request: Any, response: Any) -> Context:  # noqa: ARG002 - Strawberry's signature
            comments = comment_loader(dispatcher) if has_loader else None
            return {"dispatcher": dispatcher, "peer": peer_of(request.scope), "comments": comments}

    return Application(schema, graphql_ide=None)


def comment_loader(dispatcher: Dispatcher) -> DataLoader[Key, list[dict[str, Any]]]:
    """Comments under several posts by one query for the page; a loader for each request, as it remembers what it loaded."""

    async def load(keys: list[Key]) -> list[list[dict[str, Any]]]:
        comments: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        for each in dict.fromkeys(each for _, each in keys):
            request = {"posts": [post for post, wanted in keys if wanted == each], "each": each}
            reply = dispatcher.step_async(FEED.name, STEPS["under"], request)
            rows = (reply if isinstance(reply, dict) else await reply)["comments"]
            for row in rows:
                comments[row["post"], each].append(row)
        return [comments[key] for key in keys]

    return DataLoader(load_fn=load)
