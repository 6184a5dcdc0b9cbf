"""The frames of the `tcp` protocol: `protos/tcp.md` in code. Pure.

A frame is a 32-bit length, an 8-bit code, and so many bytes of body; integers are in network byte order.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from services.python.operations import message_named

HEADER = struct.Struct("!IB")
HEADER_BYTES = HEADER.size
LARGEST_BODY = 256 * 2**20

_PAIR = struct.Struct("!ii")
_SUM = struct.Struct("!q")
_SIZE = struct.Struct("!I")
_DIMENSIONS = struct.Struct("!II")

IDENTITY, TIMESTAMP, ADD, ECHO_DATA, ECHO_RECORDS, ECHO_DOCUMENT, IMAGE, EXCHANGE, TRANSFER = range(9)
NAMED = 128  # added to a code: another operation, named before the body, whose message that code has
ERROR = 255

OPERATIONS = {
    IDENTITY: "identity",
    TIMESTAMP: "timestamp",
    ADD: "add",
    ECHO_DATA: "echo",
    ECHO_RECORDS: "echo",
    ECHO_DOCUMENT: "echo",
    IMAGE: "image",
    EXCHANGE: "exchange",
    TRANSFER: "transfer",
}
_CODES = {name: code for code, name in OPERATIONS.items() if name != "echo"}
_SIZED = (EXCHANGE, TRANSFER)  # bytes with the size of the wanted reply before them
_ECHO_CODES = {"data": ECHO_DATA, "records": ECHO_RECORDS, "document": ECHO_DOCUMENT}
_ECHO_FORMS = {code: form for form, code in _ECHO_CODES.items()}


class FrameError(ValueError):
    """Bytes that are not a frame of this protocol; the message says why."""


def request_code(operation: str, request: Mapping[str, Any]) -> int:
    """The code under which a request travels."""
    message = message_named(operation).name
    echoed = (code for form, code in _ECHO_CODES.items() if form in request)
    code = next(echoed) if message == "echo" else _CODES[message]
    return code if operation == message else NAMED + code


def request_encoder(operation: str, request: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bytes]:
    """What makes the bodies of requests such as this one."""
    code = request_code(operation, request)
    if code < NAMED:
        return partial(encode_request, code)
    name = operation.encode()
    head = bytes([len(name)]) + name
    return lambda request: head + encode_request(code - NAMED, request)


def read_request(code: int, body: bytes) -> tuple[str, dict[str, Any]]:
    """The operation that a frame asks and its request; KeyError for a code that is not known, FrameError as below."""
    if code < NAMED:
        return OPERATIONS[code], decode_request(code, body)
    end = 1 + int.from_bytes(body[:1])
    try:
        operation = body[1:end].decode()
        message = message_named(operation).name
    except (ValueError, KeyError) as error:
        raise FrameError(f"no operation is named in a request of code {code}: {error}") from error
    if OPERATIONS.get(code - NAMED) != message:
        raise FrameError(f"{operation} does not travel under code {code}")
    return operation, decode_request(code - NAMED, body[end:])


def encode_request(code: int, request: Mapping[str, Any]) -> bytes:
    """The body of a request."""
    if code in _SIZED:
        return _SIZE.pack(request["reply_size"]) + bytes(request["data"])
    if code == ADD:
        return _PAIR.pack(request["a"], request["b"])
    if code == TIMESTAMP:
        return str(request["request_timestamp"]).encode()
    if code == IMAGE:
        return bytes([request["full_decode"]]) + bytes(request["data"])
    return _encode_echo(code, request)


def decode_request(code: int, body: bytes) -> dict[str, Any]:
    """The request in a body; FrameError when the body does not fit the code."""
    try:
        if code in _SIZED:
            return {"reply_size": _SIZE.unpack_from(body)[0], "data": body[_SIZE.size :]}
        if code == ADD:
            a, b = _PAIR.unpack(body)
            return {"a": a, "b": b}
        if code == TIMESTAMP:
            return {"request_timestamp": body.decode()}
        if code == IMAGE:
            return {"full_decode": bool(body[0]), "data": body[1:]}
    except (struct.error, ValueError, IndexError) as error:
        raise FrameError(f"a request of code {code} with {len(body)} bytes: {error}") from error
    return _decode_echo(code, body)


def encode_reply(code: int, reply: Mapping[str, Any]) -> bytes:
    """The body of a reply; a named operation's is that of its message."""
    if code >= NAMED:
        code -= NAMED
    if code in _SIZED:
        return bytes(reply["data"])
    if code == ADD:
        return _SUM.pack(reply["sum"])
    if code == TIMESTAMP:
        return f"{reply['request_timestamp']}\n{reply['response_timestamp']}".encode()
    if code == IMAGE:
        return _DIMENSIONS.pack(reply["width"], reply["height"])
    if code == IDENTITY:
        return str(reply["identity"]).encode()
    return _encode_echo(code, reply)


def decode_reply(code: int, body: bytes) -> dict[str, Any]:
    """The reply in a body; FrameError when the body does not fit the code."""
    if code >= NAMED:
        code -= NAMED
    try:
        if code in _SIZED:
            return {"data": body}
        if code == ADD:
            return {"sum": _SUM.unpack(body)[0]}
        if code == TIMESTAMP:
            request_timestamp, response_timestamp = body.decode().split("\n")
            return {"request_timestamp": request_timestamp, "response_timestamp": response_timestamp}
        if code == IMAGE:
            width, height = _DIMENSIONS.unpack(body)
            return {"width": width, "height": height}
        if code == IDENTITY:
            return {"identity": body.decode()}
    except (struct.error, ValueError) as error:
        raise FrameError(f"a reply of code {code} with {len(body)} bytes: {error}") from error
    return _decode_echo(code, body)


def _encode_echo(code: int, content: Mapping[str, Any]) -> bytes:
    if code == IDENTITY:
        return b""
    value = content[_ECHO_FORMS[code]]
    return bytes(value) if code == ECHO_DATA else json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _decode_echo(code: int, body: bytes) -> dict[str, Any]:
    if code == IDENTITY:
        return {}
    if code not in _ECHO_FORMS:
        raise FrameError(f"code {code} is not known; known: {', '.join(map(str, OPERATIONS))}")
    try:
        return {_ECHO_FORMS[code]: body if code == ECHO_DATA else json.loads(body)}
    except ValueError as error:
        raise FrameError(f"a body of code {code} that is not JSON: {error}") from error


MORE_THAN_A_FRAME = "bytes after the end of a frame; this protocol has one request in flight"

_START_BYTES = 64 * 1024
_JOIN_BELOW = 16 * 1024  # copying so little costs less than a second buffer in the system call


def send_frame(sock: socket.socket, code: int, body: bytes) -> None:
    """Send one frame; OSError as the socket gives it."""
    header = HEADER.pack(len(body), code)
    if len(body) < _JOIN_BELOW or hasattr(sock, "context"):  # TLS copies into its records anyway
        sock.sendall(header + body)
        return
    sent = sock.sendmsg((header, body)) - HEADER_BYTES
    if sent < len(body):
        sock.sendall(memoryview(body)[max(sent, 0) :])


class FrameReader:
    """Reads one frame at a time into a buffer that is kept; no frame may follow before the last was answered."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray(_START_BYTES)

    def read(self) -> tuple[int, bytes] | None:
        """Code and body of the next frame; None at the end of the stream between two frames.

        ConnectionResetError when the stream ends inside a frame, FrameError when it is not one of ours.
        """
        buffer, have = self._buffer, 0
        receive_into = self._sock.recv_into
        with memoryview(buffer) as view:
            while have < HEADER_BYTES:
                count = receive_into(view[have:])
                if count == 0:
                    if have:
                        raise ConnectionResetError("the connection ended inside a frame")
                    return None
                have += count
        length, code = HEADER.unpack_from(buffer)
        if length > LARGEST_BODY:
            raise FrameError(f"a frame of {length:,} bytes; the largest is {LARGEST_BODY:,}")
        end = HEADER_BYTES + length
        if end > len(buffer):
            buffer.extend(bytes(end - len(buffer)))
        with memoryview(buffer) as view:
            while have < end:
                count = receive_into(view[have:end])
                if count == 0:
                    raise ConnectionResetError("the connection ended inside a frame")
                have += count
            if have > end:
                raise FrameError(MORE_THAN_A_FRAME)
            return code, bytes(view[HEADER_BYTES:end])
