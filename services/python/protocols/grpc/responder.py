"""Answers with grpcio's blocking server and its thread pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any

import grpc

from services.python.codecs.protobuf import Method
from services.python.codecs.typed import typed_methods
from services.python.contract.responder_lines import Tls
from services.python.protocols.grpc import options
from services.python.protocols.grpc.service import add_methods
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce, CannotServe, pem


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    server = grpc.server(
        ThreadPoolExecutor(max_workers=dispatcher.threads),
        options=options.server(dispatcher.knobs),
        compression=options.compression(dispatcher.knobs),
    )
    add_methods(
        server, partial(_handler, dispatcher), partial(_stream_handler, dispatcher), typed_methods(dispatcher.schema)
    )
    actual_port = bind(server, host, port, dispatcher.tls)
    server.start()
    announce(actual_port)
    server.wait_for_termination()


def bind(server: Any, host: str, port: int, tls: Tls | None = None) -> int:
    """The port that a blocking or awaiting server will listen on; CannotServe when it cannot."""
    address = options.address(host, port)
    try:
        if tls is not None:
            return int(server.add_secure_port(address, grpc.ssl_server_credentials([pem(tls)])))
        return int(server.add_insecure_port(address))
    except RuntimeError as error:
        raise CannotServe(
            f"cannot listen on {host}:{port}; give an address of this host and a free port, or 0 for any"
        ) from error


def _handler(dispatcher: Dispatcher, operation: str, method: Method) -> Callable[[Any, grpc.ServicerContext], Any]:
    def handle(message: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method.pack_reply(dispatcher.answer(operation, method.unpack_request(message), context.peer()))
        except ValueError as error:
            return context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    return handle


def _stream_handler(
    dispatcher: Dispatcher, operation: str, method: Method
) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
    def handle(message: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        try:
            outgoing = dispatcher.subscribe(operation, method.unpack_request(message), context.peer())
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        try:
            with closing(outgoing.blocking()) as events:
                for event in events:
                    if not context.is_active():
                        return
                    yield method.pack_reply(event)
        except ValueError as error:
            context.abort(grpc.StatusCode.INTERNAL, str(error))

    return handle
