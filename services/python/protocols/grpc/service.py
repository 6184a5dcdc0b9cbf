"""The service's methods, and those that operations add to it which share a message with one of `protos/orch.proto`.

Such an operation is the method of its name with the same messages; generated code knows those of the file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import grpc

from services.python.codecs.protobuf import GENERATED, SERVICE, Method, methods
from services.python.generated import orch_pb2_grpc


def stub(channel: Any, method: Method) -> Any:
    """What makes calls of this method on a channel."""
    if method.service == SERVICE and method.name in GENERATED:
        return getattr(orch_pb2_grpc.OrchStub(channel), method.name)
    make = channel.unary_stream if method.is_stream else channel.unary_unary
    return make(
        f"/{method.service}/{method.name}",
        request_serializer=method.request.SerializeToString,
        response_deserializer=method.reply.FromString,
        _registered_method=True,
    )


def add_methods(
    server: Any,
    handler: Callable[[str, Method], Any],
    stream_handler: Callable[[str, Method], Any],
    typed: Mapping[str, Method] = MappingProxyType({}),
) -> None:
    """Have a blocking or awaiting server answer every operation by what `handler` gives for it and its method.

    `stream_handler` gives it for streams. `typed`: how a document with a schema travels, by operation.
    """
    handlers = {
        method.name: (method, (stream_handler if method.is_stream else handler)(operation, method))
        for operation, method in methods().items()
    }
    generated = {name: handle for name, (_, handle) in handlers.items() if name in GENERATED}
    orch_pb2_grpc.add_OrchServicer_to_server(SimpleNamespace(**generated), server)
    _add_others(server, SERVICE, {name: pair for name, pair in handlers.items() if name not in GENERATED})
    for operation, method in typed.items():
        _add_others(server, method.service, {method.name: (method, handler(operation, method))})


def _add_others(server: Any, service: str, others: Mapping[str, tuple[Method, Any]]) -> None:
    further = {
        name: (grpc.unary_stream_rpc_method_handler if method.is_stream else grpc.unary_unary_rpc_method_handler)(
            handle, request_deserializer=method.request.FromString, response_serializer=method.reply.SerializeToString
        )
        for name, (method, handle) in others.items()
    }
    if further:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, further),))
        server.add_registered_method_handlers(service, further)
