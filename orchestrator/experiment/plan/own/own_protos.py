"""What a gRPC service offers: from a .proto file, a descriptor set, or by reflection; always as one descriptor set."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError

from orchestrator.errors import did_you_mean, nearest
from orchestrator.experiment.read.problems import shown

_REFLECT_S = 10.0


class Unusable(Exception):
    """There is no such method, or nothing that describes it; `key` of the call is to blame where it is not the source."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


def near(name: str, known: Collection[str]) -> str:
    """Return the sentence that names what is meant, with a space before it; empty where nothing is near."""
    return f" {did_you_mean(name, known)}" if nearest(name, known) else ""


def compiled(proto: Path) -> bytes:
    """Return the descriptor set of a .proto and its imports, from its folder or one above; Unusable with protoc's word."""
    if not proto.is_file():
        others = [file.name for file in proto.parent.glob("*.proto")]
        raise Unusable(f"there is no file {proto.name} beside the experiment.{near(proto.name, others)}")
    try:
        return protoc(proto, proto.resolve().parents)
    except Unusable as error:
        raise Unusable(f"protoc refuses it: {str(error).splitlines()[0]}.") from error


def protoc(proto: Path, includes: Iterable[Path]) -> bytes:
    """Return what protoc makes of a .proto with its imports before it; Unusable with all that it says."""
    with tempfile.TemporaryDirectory(prefix="orch-") as folder:
        output = Path(folder, "set.pb")
        places = [f"-I{place}" for place in includes]
        arguments = ["--include_imports", f"--descriptor_set_out={output}", *places, proto.name]
        command = [sys.executable, "-P", "-m", "grpc_tools.protoc", *arguments]
        done = subprocess.run(command, cwd=proto.parent, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unusable(done.stderr.strip())
        return output.read_bytes()


def described_by(content: bytes, name: str) -> bytes:
    """Return the part of a descriptor set that a method `package.Service/Method` needs; Unusable where it has none."""
    files = descriptor_pb2.FileDescriptorSet()
    pool = descriptor_pool.DescriptorPool()
    try:
        files.ParseFromString(content)
        for file in files.file:
            pool.Add(file)
    except (DecodeError, TypeError) as error:
        raise Unusable(f"it is no descriptor set: {error}.") from error
    service, _, method = name.partition("/")
    methods = {
        f"{file.package}.{offered.name}".lstrip("."): {m.name: m for m in offered.method}
        for file in files.file
        for offered in file.service
    }
    if service not in methods:
        raise Unusable(f"there is no service {service}.{near(service, methods)}", "grpc")
    if method not in methods[service]:
        raise Unusable(f"{service} has no method {method}.{near(method, methods[service])}", "grpc")
    if methods[service][method].client_streaming:
        raise Unusable(f"{name} takes a stream of requests, and calls with one are measured.", "grpc")
    described = pool.FindServiceByName(service)
    return descriptor_pb2.FileDescriptorSet(file=_files(described.file, set())).SerializeToString()


def unknown_field(message: Any, path: Iterable[str | int], *, is_reply: bool = False) -> str:
    """Return the sentence on the first name of a path that a message (its descriptor) has not; empty where it has all.

    Requests may have the JSON names of fields, too. What lies below a map or a well-known type is not looked at.
    """
    for name in path:
        if message is None or message.full_name.startswith("google.protobuf."):
            return ""
        if isinstance(name, int):
            continue
        fields = {
            known: field
            for field in message.fields
            for known in {field.name, field.name if is_reply else field.json_name}
        }
        if name not in fields:
            owner = f"{message.full_name}, the reply," if is_reply else message.full_name
            return f"{owner} has no field '{shown(name)}'. {did_you_mean(name, [*message.fields_by_name])}"
        field = fields[name]
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        message = None if is_map else field.message_type
    return ""


def paths_in(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield the keys to every value within a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (key,)
        yield from ((key, *below) for below in paths_in(item))


def offered(host: str, port: int) -> list[str]:
    """Return the names of the services that a running server without TLS offers by reflection; Unusable for none."""
    with _reflection(host, port, "", ()) as database:
        return [name for name in database.get_services() if not name.startswith(("grpc.reflection.", "grpc.health."))]


def reflected(host: str, port: int, authority: str, certificate: Sequence[str], service: str) -> bytes:
    """Return what a running service says of itself by reflection; Unusable where it says nothing of that service."""
    with _reflection(host, port, authority, certificate) as database:
        names = [name for name in database.get_services() if not name.startswith("grpc.reflection.")]
        if service not in names:
            raise Unusable(f"{_target(host, port)} has no service {service}.{near(service, names)}", "grpc")
        described = descriptor_pool.DescriptorPool(database).FindServiceByName(service)
    return descriptor_pb2.FileDescriptorSet(file=_files(described.file, set())).SerializeToString()


@contextmanager
def _reflection(host: str, port: int, authority: str, certificate: Sequence[str]) -> Iterator[Any]:
    import grpc
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

    target, options = _target(host, port), (("grpc.enable_http_proxy", 0),)
    if authority:
        chain, key = (Path(name).read_bytes() for name in certificate) if certificate else (None, None)
        credentials = grpc.ssl_channel_credentials(Path(authority).read_bytes(), key, chain)
        channel = grpc.secure_channel(target, credentials, options)
    else:
        channel = grpc.insecure_channel(target, options)
    with channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_REFLECT_S)
            yield ProtoReflectionDescriptorDatabase(channel)
        except grpc.FutureTimeoutError as error:
            raise Unusable(f"{target} does not answer within {_REFLECT_S:g} s.") from error
        except grpc.RpcError as error:
            raise Unusable(f"{target} has no reflection: {str(error).splitlines()[0]}.") from error


def _target(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _files(file: Any, seen: set[str]) -> Iterator[descriptor_pb2.FileDescriptorProto]:
    """A file with its imports before it."""
    if file.name in seen:
        return
    seen.add(file.name)
    for imported in file.dependencies:
        yield from _files(imported, seen)
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    yield proto
