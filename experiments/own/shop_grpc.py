"""The shop by gRPC, with its health service: `python shop_grpc.py --port 8081`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import shop_pb2 as messages  # protoc --python_out=. shop.proto
from shop_data import open_shop, order_of

SHOP = open_shop()


async def _get(request: Any, context: Any) -> Any:
    """An order with its items."""
    return messages.Order(**await _order(request, context))


async def _items(request: Any, context: Any) -> AsyncIterator[Any]:
    """The items of an order."""
    for item in (await _order(request, context))["items"]:
        yield messages.Item(**item)


async def _order(request: Any, context: Any) -> dict[str, Any]:
    if (order := order_of(SHOP, request.id)) is None:
        await context.abort(grpc.StatusCode.NOT_FOUND, f"no order {request.id}")
    return order


async def _serving(_request: bytes, _context: Any) -> bytes:
    return b"\x08\x01"  # a HealthCheckResponse whose status is SERVING


async def serve(address: str, port: int) -> None:
    """Serve until it is ended."""
    server = grpc.aio.server()
    reads, writes = messages.OrderRequest.FromString, messages.Order.SerializeToString
    orders = {
        "Get": grpc.unary_unary_rpc_method_handler(_get, reads, writes),
        "Items": grpc.unary_stream_rpc_method_handler(_items, reads, messages.Item.SerializeToString),
    }
    health = {"Check": grpc.unary_unary_rpc_method_handler(_serving)}
    for name, handlers in {"shop.v1.Orders": orders, "grpc.health.v1.Health": health}.items():
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    server.add_insecure_port(f"{address}:{port}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8081)
    given = parser.parse_args()
    asyncio.run(serve(given.address, given.port))
