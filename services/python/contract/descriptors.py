"""A method of somebody's own gRPC service, by a serialised FileDescriptorSet; protobuf is imported by who calls this."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method: `request` makes its message from JSON values (ValueError); the types are of both messages."""

    path: str
    request: Callable[[Any], Any]
    request_type: type[Any]
    reply: type[Any]
    is_stream: bool


@lru_cache(maxsize=8)
def method_of(descriptors: str, name: str) -> Method:
    """Return the method `package.Service/Method` of a descriptor set (base64)."""
    from google.protobuf import json_format, message_factory

    service, _, method = name.partition("/")
    described = pool_of(descriptors).FindServiceByName(service).methods_by_name[method]
    message = message_factory.GetMessageClass(described.input_type)

    def request(values: Any) -> Any:
        try:
            return json_format.ParseDict(values, message())
        except (json_format.ParseError, TypeError, AttributeError) as error:  # the latter two: no JSON form of its type
            raise ValueError(str(error)) from error

    return Method(
        path=f"/{name}",
        request=request,
        request_type=message,
        reply=message_factory.GetMessageClass(described.output_type),
        is_stream=described.server_streaming,
    )


def pool_of(descriptors: str) -> Any:
    """Return a pool with the files of a descriptor set (base64), whose imports come first."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(descriptors))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def values_of(message: Any) -> Any:
    """Return a message as JSON values, fields by the names of the .proto; fields without presence at their defaults too."""
    from google.protobuf import json_format

    return json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
