"""Calls of gRPC services: of a .proto file, or of a running server by reflection."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor

from orchestrator.experiment.drafts.draft import SERVICE, Draft, DraftCall, column, shortlist
from orchestrator.experiment.plan.own.own_protos import Unusable, compiled, offered, reflected

_READS = re.compile(
    r"^(BatchGet|Get|List|Search|Find|Read|Query|Look[uU]p|Describe|Count|Check|Fetch|Has|Is|Exists|Echo|Ping|Watch)(?![a-z])"
)
_DEEPEST = 4
_WELL_KNOWN: Mapping[str, Any] = {
    "Timestamp": "2026-01-31T12:00:00Z",
    "Duration": "1s",
    "FieldMask": "",
    "Struct": {},
    "Value": None,
    "ListValue": [],
    "Any": None,
    "StringValue": "text",
    "BytesValue": "AA==",
    "BoolValue": True,
    **dict.fromkeys(("Int32Value", "Int64Value", "UInt32Value", "UInt64Value", "FloatValue", "DoubleValue"), 1),
}


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
        if not method.client_streaming and _well_known(method.input_type) != "Any"  # one request, of a known type
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
    service = method.containing_service
    name = _well_known(method.input_type)
    message = _message(method.input_type) if name is None else {"value": _WELL_KNOWN[name]}
    scalars = {key: value for key, value in message.items() if not isinstance(value, dict | list)}
    template = {**message, **{key: f"{{{column(key)}}}" for key in scalars}}
    return DraftCall(
        name=f"{service.name}-{method.name}",
        call={
            "grpc": f"{service.full_name}/{method.name}",
            **described,
            "message": template if name is None else template["value"],
        },
        is_safe=_is_safe(method),
        values={column(key): [value] for key, value in scalars.items()},
        notes=["Its reply is a stream."] if method.server_streaming else [],
    )


def _message(described: Descriptor, within: tuple[str, ...] = ()) -> dict[str, Any]:
    """An example of a message, as JSON values by the names of its fields; of alternatives the first, none within itself."""
    within = (*within, described.full_name)
    values: dict[str, Any] = {}
    for field in described.fields:
        group = field.containing_oneof
        if group is not None and group.fields[0] is not field:
            continue
        value = _value(field, within)
        if value is not None:
            is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
            values[field.name] = {} if is_map else [value] if field.is_repeated else value
    return values


def _well_known(described: Descriptor) -> str | None:
    """The name of a type that has a JSON form of its own."""
    package, _, name = described.full_name.rpartition(".")
    return name if package == "google.protobuf" and name in _WELL_KNOWN else None


def _value(field: FieldDescriptor, within: tuple[str, ...]) -> Any:
    """An example of one value; None where it is best left out."""
    if field.message_type is not None:
        if (name := _well_known(field.message_type)) is not None:
            return _WELL_KNOWN[name]
        is_left_out = field.message_type.full_name in within or len(within) > _DEEPEST
        return None if is_left_out else _message(field.message_type, within)
    if field.enum_type is not None:
        names = [value.name for value in field.enum_type.values]
        return names[min(1, len(names) - 1)]
    kinds = {FieldDescriptor.CPPTYPE_BOOL: True, FieldDescriptor.CPPTYPE_STRING: "text"}
    return "AA==" if field.type == FieldDescriptor.TYPE_BYTES else kinds.get(field.cpp_type, 1)
