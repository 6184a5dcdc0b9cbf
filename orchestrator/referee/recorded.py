"""Reads what a requester wrote to its connections back into requests: HTTP/1.1, and the messages of gRPC over HTTP/2."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from itertools import accumulate

from orchestrator.referee.asked import Asked

MOST_BODIES = 64
_MOST_BYTES = 4 << 20  # of bodies that differ, all together
_OF_THE_PROGRAM = {"host", "content-length", "connection"}  # header fields that every program sets by itself
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_LENGTH = re.compile(r"[0-9]{1,12}")
_METHOD = re.compile(r"[A-Z]{1,20}")
_PATH = re.compile(r"/[!-~]{0,8191}")  # what does not begin with / would be read as a part of the host
_NAME, _VALUE = re.compile(r"[0-9A-Za-z!#$%&'*+.^_`|~-]{1,256}"), re.compile(r"[\t -~]{0,8192}")
_MOST_FIELDS = 100
_FRAME, _PREFIX = 9, 5  # bytes before a frame's and a message's content
_DATA, _END_STREAM, _PADDED = 0, 0x1, 0x8


class NotRecorded(ValueError):
    """No request could be read that a load generator can send; the message says why, as a clause."""


def http(connections: Sequence[bytes]) -> Asked:
    """The requests of the connection with the most of them, as one thing to ask; NotRecorded where they are not alike.

    Connections are given as the bytes that the requester wrote to each, in the order in which they were opened.
    """
    last = max((_requests(sent) for sent in connections), key=len, default=[])
    heads = {(method, path, fields) for method, path, fields, _ in last}
    if not heads:
        raise NotRecorded("the requester sent no request")
    if len(heads) > 1:
        raise NotRecorded("its requests differ in more than their bodies")
    method, path, fields = heads.pop()
    return Asked(path=path, method=method, fields=dict(fields), bodies=_in_turn([body for *_, body in last]))


def grpc(connections: Sequence[bytes], method: str) -> Asked:
    """The messages of the connection with the most of them; NotRecorded as `http`."""
    last = max((_messages(sent) for sent in connections), key=len, default=[])
    if not last:
        raise NotRecorded("the requester sent no message")
    return Asked(path=method, bodies=_in_turn(last))


def _in_turn(bodies: list[bytes]) -> tuple[bytes, ...]:
    """The first of them where they differ, in their order; one where they are the same."""
    if len(set(bodies)) == 1:
        return (bodies[0],)
    sizes = accumulate(len(body) for body in bodies[:MOST_BODIES])
    return tuple(bodies[: max(1, sum(size <= _MOST_BYTES for size in sizes))])


_Request = tuple[str, str, tuple[tuple[str, str], ...], bytes]


def _requests(sent: bytes) -> list[_Request]:
    """The requests of a connection, whole ones; NotRecorded for what is not HTTP/1.1 with a length."""
    found: list[_Request] = []
    while sent:
        head, end, rest = sent.partition(b"\r\n\r\n")
        if not end:
            break
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or words[2] != "HTTP/1.1":
            raise NotRecorded("the requester does not speak HTTP/1.1")
        fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        lengths = [value for name, value in fields if name.lower() == "content-length"]
        if any(name.lower() == "transfer-encoding" for name, _ in fields) or not all(map(_LENGTH.fullmatch, lengths)):
            raise NotRecorded("its requests have no length")
        if not _METHOD.fullmatch(words[0]) or not _PATH.fullmatch(words[1]) or not _are_fields(fields):
            raise NotRecorded("its requests have a method, a path or a header field that no program can be told")
        length = int(lengths[0]) if lengths else 0
        if len(rest) < length:
            break
        kept = tuple((name, value) for name, value in fields if name.lower() not in _OF_THE_PROGRAM)
        found.append((words[0], words[1], kept, rest[:length]))
        sent = rest[length:]
    return found


def _are_fields(fields: Sequence[tuple[str, str]]) -> bool:
    """Whether they can be given as arguments, or within a script."""
    return len(fields) <= _MOST_FIELDS and all(
        _NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in fields
    )


def _messages(sent: bytes) -> list[bytes]:
    """The messages of a connection's streams, one each, in the order in which the streams ended."""
    if not sent.startswith(_PREFACE):
        raise NotRecorded("the requester does not speak HTTP/2")
    place, open_streams, found = len(_PREFACE), dict[int, bytes](), list[bytes]()
    while place + _FRAME <= len(sent):
        size, kind, flags = int.from_bytes(sent[place : place + 3]), sent[place + 3], sent[place + 4]
        stream = int.from_bytes(sent[place + 5 : place + _FRAME]) & 0x7FFFFFFF
        content = sent[place + _FRAME : place + _FRAME + size]
        place += _FRAME + size
        if kind != _DATA or len(content) < size:
            continue
        if flags & _PADDED:
            if content[:1] == b"" or content[0] >= len(content):
                raise NotRecorded("it pads a frame with more than the frame holds")
            content = content[1 : len(content) - content[0]]
        open_streams[stream] = open_streams.get(stream, b"") + content
        if flags & _END_STREAM:
            found.append(_message(open_streams.pop(stream)))
    return found


def _message(data: bytes) -> bytes:
    is_packed, size = struct.unpack_from(">BI", data) if len(data) >= _PREFIX else (1, 0)
    if is_packed or len(data) != _PREFIX + size:
        raise NotRecorded("its calls do not send one plain message each")
    return data[_PREFIX:]
