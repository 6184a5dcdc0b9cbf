"""Calls of gRPC services: of a .proto file, or of a running server by reflection."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message

from orchestrator.experiment.drafts.draft import SERVICE, Draft, DraftCall, column, shortlist
from orchestrator.experiment.plan.own.own_protos import Unusable, compiled, offered, reflected

_READS = re.compile(
    r"^(BatchGet|Get|List|Search|Find|Read|Query|Look[uU]p|Describe|Count|Check|Fetch|Has|Is|Exists|Echo|Ping|Watch)(?![a-z])"
)
_DEEPEST = 4
_ANY = "google.protobuf.Any"


def proto_draft(proto: Path, experiment: Path) -> Draft:
    """Return the draft of a .proto file; ValueError for what protoc refuses."""
    try:
        content = compiled(proto)
    except Unusable as error:
        raise ValueError(str(error)) from error
    described = {"proto": os.path.relpath(proto, experiment.parent)}
    return _draft(content, described, proto.stem, "", {})


def reflection_draft(url: str, experiment: Path) -> Draft:
    """Return the draft of what a server at `grpc://HOST:PORT` says of itself; ValueError where it says nothing."""
    parts = urlsplit(url)
    if not (parts.hostname and parts.port) or parts.username or parts.path.strip("/"):
        raise ValueError("give grpc://HOST:PORT")
    content = descriptor_pb2.FileDescriptorSet()
    try:
        for service in offered(parts.hostname, parts.port):
            content.MergeFromString(reflected(parts.hostname, parts.port, "", (), service))
    except Unusable as error:
        raise ValueError(str(error)) from error
    files = {file.name: file for file in content.file}  # in the order of imports: each at its first place
    serialised = descriptor_pb2.FileDescriptorSet(file=files.values()).SerializeToString()
    name = f"{experiment.stem}.pb"
    return _draft(serialised, {"descriptors": name}, parts.netloc, f"http://{parts.netloc}", {name: serialised})


def _draft(content: bytes, described: Mapping[str, str], title: str, place: str, files: Mapping[str, bytes]) -> Draft:
    pool = descriptor_pool.DescriptorPool()
    services = []
    for file in descriptor_pb2.FileDescriptorSet.FromString(content).file:
        pool.Add(file)
        services += [f"{file.package}.{service.name}".lstrip(".") for service in file.service]
    methods = [
        method
        for name in services
        for method in pool.FindServiceByName(name).methods
        if not method.client_streaming and method.input_type.full_name != _ANY  # one request, of a known type
    ]
    return Draft(
        kind="gRPC",
        title=title,
        calls=[_call(method, described) for method in shortlist(methods, _is_safe)],
        total=len(methods),
        services={SERVICE: place},
        files=files,
    )


def _is_safe(method: MethodDescriptor) -> bool:
    option = method.GetOptions().idempotency_level
    return option == descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS or _READS.match(method.name) is not None


def _call(method: MethodDescriptor, described: Mapping[str, str]) -> DraftCall:
    service, message = method.containing_service, message_factory.GetMessageClass(method.input_type)()
    _fill(message)
    example = json_format.MessageToDict(message, preserving_proto_field_name=True)  # of a wrapper its value alone
    values = example if isinstance(example, dict) else {"value": example}
    scalars = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
    template = {**values, **{key: f"{{{column(key)}}}" for key in scalars}}
    return DraftCall(
        name=f"{service.name}-{method.name}",
        call={
            "grpc": f"{service.full_name}/{method.name}",
            **described,
            "message": template if values is example else template["value"],
        },
        is_safe=_is_safe(method),
        values={column(key): [value] for key, value in scalars.items()},
        notes=["Its reply is a stream."] if method.server_streaming else [],
    )


def _fill(message: Message, within: tuple[str, ...] = ()) -> None:
    """Give each field of a message a simple value; of alternatives the first, and no message within itself."""
    within = (*within, message.DESCRIPTOR.full_name)
    for field in message.DESCRIPTOR.fields:
        kind, group = field.message_type, field.containing_oneof
        is_left_out = kind is not None and (kind.GetOptions().map_entry or kind.full_name in (*within, _ANY))
        if is_left_out or len(within) > _DEEPEST or (group is not None and group.fields[0] is not field):
            continue
        held = getattr(message, field.name)
        if kind is not None:
            inner = held.add() if field.is_repeated else held
            inner.SetInParent()
            _fill(inner, within)
        elif field.is_repeated:
            held.append(_value(field))
        else:
            setattr(message, field.name, _value(field))


def _value(field: Any) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[min(1, len(field.enum_type.values) - 1)].number
    kinds = {FieldDescriptor.CPPTYPE_BOOL: True, FieldDescriptor.CPPTYPE_STRING: "text"}
    return b"\0" if field.type == FieldDescriptor.TYPE_BYTES else kinds.get(field.cpp_type, 1)
