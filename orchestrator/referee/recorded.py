"""Reads what a requester wrote to its connections back into requests: HTTP/1.1, and the messages of gRPC over HTTP/2."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate

from orchestrator.referee.exchange import Exchange

MOST_BODIES = 64
_MOST_BYTES = 4 << 20  # of bodies that differ, all together
_OF_THE_PROGRAM = {"host", "content-length", "connection"}  # header fields that every program sets by itself
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME, _PREFIX = 9, 5  # bytes before a frame's and a message's content
_DATA, _END_STREAM = 0, 0x1


class NotRecorded(ValueError):
    """No request could be read that a load generator can send; the message is the reason, as a clause."""


def http(connections: Sequence[bytes]) -> Exchange:
    """Return the requests of the connection with the most of them; NotRecorded where they are not alike.

    Connections are given as the bytes that the requester wrote to each, in the order in which they were opened.
    """
    requests = max((list(_requests(sent)) for sent in connections), key=len, default=[])
    heads = {(method, path, fields) for method, path, fields, _ in requests}
    if len(heads) != 1:
        raise NotRecorded("its requests differ in more than their bodies" if heads else "the requester sent no request")
    method, path, fields = heads.pop()
    return Exchange(path=path, method=method, fields=dict(fields), bodies=_in_turn([body for *_, body in requests]))


def grpc(connections: Sequence[bytes], method: str) -> Exchange:
    """Return the messages of the connection with the most of them; NotRecorded as `http`."""
    messages = max((list(_messages(sent)) for sent in connections), key=len, default=[])
    if not messages:
        raise NotRecorded("the requester sent no message")
    return Exchange(path=method, bodies=_in_turn(messages))


def _in_turn(bodies: list[bytes]) -> tuple[bytes, ...]:
    """The first of them where they differ, in their order; one where they are the same."""
    if len(set(bodies)) == 1:
        return (bodies[0],)
    sizes = accumulate(len(body) for body in bodies[:MOST_BODIES])
    return tuple(bodies[: max(1, sum(size <= _MOST_BYTES for size in sizes))])


def _requests(sent: bytes) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...], bytes]]:
    """Each whole request of a connection; NotRecorded for what is not HTTP/1.1 with a length."""
    while sent:
        head, end, rest = sent.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, target = first.partition(" ")
        path, _, version = target.partition(" ")
        fields = {name.lower(): (name, value.strip()) for name, _, value in (line.partition(":") for line in lines)}
        if end and (version != "HTTP/1.1" or "transfer-encoding" in fields):
            raise NotRecorded("its requests are not HTTP/1.1 with a length")
        length = int(fields.get("content-length", ("", "0"))[1])
        if not end or len(rest) < length:
            return
        kept = tuple(field for name, field in fields.items() if name not in _OF_THE_PROGRAM)
        yield method, path, kept, rest[:length]
        sent = rest[length:]


def _messages(sent: bytes) -> Iterator[bytes]:
    """The message of each stream of a connection, in the order in which the streams ended."""
    if not sent.startswith(_PREFACE):
        raise NotRecorded("the requester does not speak HTTP/2")
    place, streams = len(_PREFACE), dict[int, bytes]()
    while place + _FRAME <= len(sent):
        size, kind, flags = int.from_bytes(sent[place : place + 3]), sent[place + 3], sent[place + 4]
        stream = int.from_bytes(sent[place + 5 : place + _FRAME])
        content = sent[place + _FRAME : place + _FRAME + size]
        place += _FRAME + size
        if kind == _DATA and len(content) == size:
            streams[stream] = streams.get(stream, b"") + content
            if flags & _END_STREAM:
                yield _message(streams.pop(stream))


def _message(data: bytes) -> bytes:
    is_packed, size = struct.unpack_from(">BI", data) if len(data) >= _PREFIX else (1, 0)
    if is_packed or len(data) != _PREFIX + size:
        raise NotRecorded("its calls do not send one plain message each")
    return data[_PREFIX:]
