"""`tcp`, `http+json` and `rest` on the wire: `protos/tcp.md` and `protos/http.md` for both ends.

A message is its name and its fields. `Tcp` and `Http` turn it into what travels, and back.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from tests.conformance.reference.contract import parse

CODES = ("identity", "timestamp", "add", "echo/data", "echo/records", "echo/document", "image", "exchange", "transfer")
SIZED = ("exchange", "transfer")  # bytes, and how many are wanted back
BARE_TYPES = {"image": "image/png", "echo/data": "application/octet-stream", "transfer": "application/octet-stream"}
ERROR = 255
LARGEST = 256 * 2**20


class Undecodable(ValueError):
    """What came is no such message."""


class ProtocolError(Exception):
    """The other end answered with an error in the protocol's own words."""


class Ended(Exception):
    """The connection ended."""


@dataclass(frozen=True)
class Came:
    """What came: a message's name (of a reply: `` where it has none), its body, and whether it says an error."""

    name: str
    body: bytes
    is_error: bool = False
    query: str = ""
    is_last: bool = False  # the connection's end is announced with it


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


class Tcp:
    """Frames of `protos/tcp.md`."""

    name = "tcp"
    messages = CODES

    def request_body(self, name: str, fields: dict[str, Any]) -> bytes:
        if name in SIZED:
            return struct.pack("!I", fields["reply_size"]) + fields["data"]
        if name == "add":
            return struct.pack("!ii", fields["a"], fields["b"])
        if name == "timestamp":
            return fields["request_timestamp"].encode()
        if name == "image":
            return bytes([fields["full_decode"]]) + fields["data"]
        return self._echo_body(name, fields)

    def reply_body(self, name: str, fields: dict[str, Any]) -> bytes:
        if name in SIZED:
            return bytes(fields["data"])
        if name == "add":
            return struct.pack("!q", fields["sum"])
        if name == "timestamp":
            return f"{fields['request_timestamp']}\n{fields['response_timestamp']}".encode()
        if name == "image":
            return struct.pack("!II", fields["width"], fields["height"])
        return fields["identity"].encode() if name == "identity" else self._echo_body(name, fields)

    def read_request(self, came: Came) -> dict[str, Any]:
        name, body = came.name, came.body
        try:
            if name == "identity":
                return {}
            if name in SIZED:
                return {"reply_size": struct.unpack_from("!I", body)[0], "data": body[4:]}
            if name == "add":
                return dict(zip("ab", struct.unpack("!ii", body), strict=True))
            if name == "timestamp":
                return {"request_timestamp": body.decode()}
            if name == "image":
                return {"full_decode": bool(body[0]), "data": body[1:]}
            return self._read_echo(name, body)
        except (struct.error, IndexError, ValueError) as error:
            raise Undecodable(f"{name}: {error}") from error

    def read_reply(self, name: str, came: Came) -> dict[str, Any]:
        body = came.body
        if came.is_error:
            raise ProtocolError(body.decode(errors="replace"))
        if came.name != name:
            raise Undecodable(f"a reply to {came.name or 'an unknown code'}, not to {name}")
        try:
            if name in SIZED:
                return {"data": body}
            if name == "add":
                return {"sum": struct.unpack("!q", body)[0]}
            if name == "timestamp":
                request, response = body.decode().split("\n")
                return {"request_timestamp": request, "response_timestamp": response}
            if name == "image":
                return dict(zip(("width", "height"), struct.unpack("!II", body), strict=True))
            return {"identity": body.decode()} if name == "identity" else self._read_echo(name, body)
        except (struct.error, ValueError) as error:
            raise Undecodable(f"{name}: {error}") from error

    def _echo_body(self, name: str, fields: dict[str, Any]) -> bytes:
        form = name.partition("/")[2]
        return b"" if not form else fields[form] if form == "data" else compact(fields[form])

    def _read_echo(self, name: str, body: bytes) -> dict[str, Any]:
        form = name.partition("/")[2]
        if not form:
            raise Undecodable(f"{name!r} is not known")
        return {form: body if form == "data" else parse(body)}

    def request(self, name: str, body: bytes, query: str = "") -> bytes:
        return self.frame(CODES.index(name), body)

    def reply(self, name: str, body: bytes) -> bytes:
        return self.frame(CODES.index(name), body)

    def error(self, words: str) -> bytes:
        return self.frame(ERROR, words.encode())

    @staticmethod
    def frame(code: int, body: bytes) -> bytes:
        return struct.pack("!IB", len(body), code) + body

    def read(self, stream: BinaryIO) -> Came:
        """The next frame; Ended where the connection ended, Undecodable where there is none."""
        length, code = struct.unpack("!IB", whole(stream, 5))
        if length > LARGEST:
            raise Undecodable(f"a body of {length} bytes")
        name = CODES[code] if code < len(CODES) else ""
        return Came(name, whole(stream, length), is_error=code == ERROR)


class Http:
    """HTTP/1.1 with JSON: `http+json`, every message one object; `rest`, some of them bare."""

    messages = tuple(name for name in CODES if name != "exchange")

    def __init__(self, name: str) -> None:
        self.name = name

    def _bare(self, name: str) -> bool:
        return self.name == "rest" and name.partition("/")[0] in ("echo", "image", "transfer")

    def request_body(self, name: str, fields: dict[str, Any]) -> bytes:
        if not self._bare(name):
            return compact(_with_base64(fields))
        return fields["data"] if "data" in fields else compact(next(iter(fields.values())))

    def query(self, name: str, fields: dict[str, Any]) -> str:
        if self._bare(name) and name == "transfer":
            return f"?reply_size={fields['reply_size']}"
        decode = "true" if fields.get("full_decode") else "false"
        return f"?full_decode={decode}" if self._bare(name) and name == "image" else ""

    def reply_body(self, name: str, fields: dict[str, Any]) -> bytes:
        return compact(fields) if name == "image" else self.request_body(name, fields)

    def read_request(self, came: Came) -> dict[str, Any]:
        fields = self._read(came.name, came.body)
        if came.name == "image" and self._bare("image"):
            fields["full_decode"] = came.query == "full_decode=true"
        if came.name == "transfer" and self._bare("transfer"):
            fields["reply_size"] = int(came.query.removeprefix("reply_size="))
        return fields

    def read_reply(self, name: str, came: Came) -> dict[str, Any]:
        if came.is_error:
            raise ProtocolError(came.body.decode(errors="replace"))
        try:
            return _object(came.body) if name == "image" else self._read(name, came.body)
        except ValueError as error:
            raise Undecodable(str(error)) from error

    def _read(self, name: str, body: bytes) -> dict[str, Any]:
        if name not in self.messages:
            raise Undecodable(f"{name!r} is not known")
        form = name.partition("/")[2]
        if self._bare(name):
            return {form or "data": body if form in ("", "data") else parse(body)}
        fields = {} if name == "identity" and not body else _object(body)
        if name in ("image", "echo/data", "transfer"):
            fields["data"] = base64.b64decode(fields["data"], validate=True)
        return fields

    def request(self, name: str, body: bytes, query: str = "") -> bytes:
        kind = BARE_TYPES.get(name) if self._bare(name) else None
        return (
            f"POST /{name}{query} HTTP/1.1\r\nHost: orch\r\nContent-Type: {kind or 'application/json'}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def reply(self, name: str, body: bytes, status: str = "200 OK") -> bytes:
        return (
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )

    def last_reply(self, name: str, body: bytes) -> bytes:
        return self.reply(name, body, "200 OK\r\nConnection: close")

    def error(self, words: str) -> bytes:
        return self.reply("", words.encode(), "400 Bad Request")

    def read(self, stream: BinaryIO) -> Came:
        """The next request or reply; Ended where the connection ended."""
        first = stream.readline()
        if not first.endswith(b"\r\n"):
            raise Ended
        head, length, is_last = first.decode("latin-1").split(), 0, False
        while (line := stream.readline()) != b"\r\n":
            if not line:
                raise Ended
            key, _, value = line.decode("latin-1").partition(":")
            if key.lower() == "content-length":
                length = int(value)
            is_last |= key.lower() == "connection" and value.strip().lower() == "close"
        body = whole(stream, length)
        if head[0].startswith("HTTP/"):
            return Came("", body, is_error=head[1] != "200", is_last=is_last)
        path, _, query = head[1].partition("?")
        return Came(path.lstrip("/"), body, query=query)


Wire = Tcp | Http
WIRES: dict[str, Wire] = {"tcp": Tcp(), "http+json": Http("http+json"), "rest": Http("rest")}


def _object(body: bytes) -> dict[str, Any]:
    fields = parse(body)
    if not isinstance(fields, dict):
        raise Undecodable("no JSON object")
    return fields


def _with_base64(fields: dict[str, Any]) -> dict[str, Any]:
    data = fields.get("data")
    return {**fields, "data": base64.b64encode(data).decode()} if isinstance(data, bytes) else fields


def whole(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise Ended
    return data


class Connection:
    """A connection that asks, one request at a time. TimeoutError where no reply comes in time."""

    def __init__(self, wire: Wire, host: str, port: int, timeout_s: float) -> None:
        self.wire = wire
        self.socket = socket.create_connection((host, port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")
        self.is_over = False

    def ask(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The reply's fields; Ended, Undecodable, ProtocolError otherwise."""
        return self.ask_and_count(name, fields)[0]

    def ask_and_count(self, name: str, fields: dict[str, Any]) -> tuple[dict[str, Any], int, int]:
        """The same, with the bytes of both bodies."""
        body = self.wire.request_body(name, fields)
        query = self.wire.query(name, fields) if isinstance(self.wire, Http) else ""
        came = self.send(self.wire.request(name, body, query))
        return self.wire.read_reply(name, came), len(body), len(came.body)

    def send(self, raw: bytes) -> Came:
        """What comes back for these bytes."""
        try:
            self.socket.sendall(raw)
            came = self.wire.read(self.stream)
            self.is_over = came.is_last
            return came
        except TimeoutError:
            raise
        except OSError as error:
            raise Ended(str(error)) from error

    def close(self) -> None:
        self.stream.close()
        self.socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
