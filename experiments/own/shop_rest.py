"""The shop by REST, GraphQL and WebSocket: `python shop_rest.py --port 8080`."""

from __future__ import annotations

import argparse
import json
from typing import Any

import strawberry
import uvicorn
from fastapi import FastAPI, HTTPException, WebSocket, WebSocketDisconnect
from shop_data import open_shop, order_of
from strawberry.fastapi import GraphQLRouter

SHOP = open_shop()
app = FastAPI()


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    """That it runs."""
    return {"status": "ok"}


@app.get("/v1/orders/{number}")
async def get_order(number: int) -> dict[str, Any]:
    """An order with its items."""
    if (order := order_of(SHOP, number)) is None:
        raise HTTPException(404, f"no order {number}")
    return order


@app.websocket("/orders")
async def orders(socket: WebSocket) -> None:
    """An order for each message `{"id": 7}`."""
    await socket.accept()
    try:
        while True:
            asked = json.loads(await socket.receive_text())
            await socket.send_text(json.dumps(order_of(SHOP, int(asked["id"]))))
    except WebSocketDisconnect:
        pass


@strawberry.type
class Item:
    """An article of an order."""

    article: str
    count: int
    cents: int


@strawberry.type
class Order:
    """An order with its items."""

    id: int
    customer: str
    total: int
    items: list[Item]


@strawberry.type
class Query:
    """What can be asked."""

    @strawberry.field
    async def order(self, id: int) -> Order | None:  # noqa: A002 - the name in the schema
        """The order of that number."""
        found = order_of(SHOP, id)
        return None if found is None else Order(**{**found, "items": [Item(**item) for item in found["items"]]})


app.include_router(GraphQLRouter(strawberry.Schema(Query)), prefix="/graphql")

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    given = parser.parse_args()
    uvicorn.run(app, host=given.address, port=given.port, access_log=False)
