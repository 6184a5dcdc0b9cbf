"""Answers with grpc.aio's server, on uvloop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import grpc
import grpc.aio
import uvloop

from services.python.codecs.protobuf import METHODS, STREAMS, Method
from services.python.generated import orch_pb2_grpc
from services.python.protocols.grpc import options
from services.python.protocols.grpc.responder import bind
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import answer


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    uvloop.run(_serve(dispatcher, host, port, announce))


async def _serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    server = grpc.aio.server(options=options.SERVER, compression=options.compression(dispatcher.knobs))
    servicer = SimpleNamespace(
        **{method.name: _handler(dispatcher, operation, method) for operation, method in METHODS.items()},
        **{method.name: _stream_handler(dispatcher, operation, method) for operation, method in STREAMS.items()},
    )
    orch_pb2_grpc.add_OrchServicer_to_server(servicer, server)
    actual_port = bind(server, host, port)
    await server.start()
    announce(actual_port)
    await server.wait_for_termination()


def _handler(
    dispatcher: Dispatcher, operation: str, method: Method
) -> Callable[[Any, grpc.aio.ServicerContext[Any, Any]], Awaitable[Any]]:
    async def handle(message: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        try:
            return method.pack_reply(
                await answer(dispatcher, operation, method.unpack_request(message), context.peer())
            )
        except ValueError as error:
            return await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    return handle


def _stream_handler(
    dispatcher: Dispatcher, operation: str, method: Method
) -> Callable[[Any, grpc.aio.ServicerContext[Any, Any]], Awaitable[None]]:
    async def handle(message: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        try:
            outgoing = dispatcher.subscribe(operation, method.unpack_request(message), context.peer())
        except ValueError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                await context.write(method.pack_reply(event))

    return handle
