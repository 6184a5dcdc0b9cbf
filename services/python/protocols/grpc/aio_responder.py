"""Answers with grpc.aio's server, on uvloop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import grpc
import grpc.aio
import uvloop

from services.python.codecs.protobuf import Method
from services.python.codecs.typed import typed_methods
from services.python.protocols.grpc import options
from services.python.protocols.grpc.responder import bind
from services.python.protocols.grpc.service import add_methods
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    uvloop.run(_serve(dispatcher, host, port, announce))


async def _serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    knobs = dispatcher.knobs
    server = grpc.aio.server(options=options.server(knobs), compression=options.compression(knobs))
    add_methods(
        server, partial(_handler, dispatcher), partial(_stream_handler, dispatcher), typed_methods(dispatcher.schema)
    )
    actual_port = bind(server, host, port, dispatcher.tls)
    await server.start()
    announce(actual_port)
    await server.wait_for_termination()


def _handler(
    dispatcher: Dispatcher, operation: str, method: Method
) -> Callable[[Any, grpc.aio.ServicerContext[Any, Any]], Awaitable[Any]]:
    async def handle(message: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        try:
            reply = dispatcher.answer_async(operation, method.unpack_request(message), context.peer())
            return method.pack_reply(reply if isinstance(reply, dict) else await reply)
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
        try:
            async with aclosing(outgoing.awaited()) as events:
                async for event in events:
                    await context.write(method.pack_reply(event))
        except ValueError as error:
            await context.abort(grpc.StatusCode.INTERNAL, str(error))

    return handle
