"""The shop by gRPC, with its health service: `python shop_grpc.py --port 8081`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from shop_data import open_shop, order_of

SHOP = open_shop()
messages, services = grpc.protos_and_services("shop.proto")


class Orders(services.OrdersServicer):  # type: ignore[name-defined, misc]
    """An order, whole or item by item."""

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802 - the method's name
        """An order with its items."""
        return messages.Order(**await _order(request, context))

    async def Items(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - the method's name
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
    services.add_OrdersServicer_to_server(Orders(), server)
    health = {"Check": grpc.unary_unary_rpc_method_handler(_serving)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", health),))
    server.add_insecure_port(f"{address}:{port}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8081)
    given = parser.parse_args()
    asyncio.run(serve(given.address, given.port))
