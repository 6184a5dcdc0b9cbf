"""What a requester wrote, read back into requests."""

from __future__ import annotations

import pytest

from orchestrator.referee import recorded
from orchestrator.referee.recorded import NotRecorded

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def post(body: bytes, path: str = "/add", more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX-One: a\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return len(content).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + content


def message(body: bytes, packed: int = 0) -> bytes:
    return bytes([packed]) + len(body).to_bytes(4) + body


def test_the_requests_of_the_connection_with_the_most_are_taken() -> None:
    asked = recorded.http([post(b"check", path="/identity"), post(b"one") + post(b"two")])
    assert (asked.path, asked.method, asked.fields) == ("/add", "POST", {"X-One": "a"})
    assert asked.bodies == (b"one", b"two")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /add HTTP/1.0\r\n\r\n",
        PREFACE,
        b"\x00" * 50 + b"\r\n\r\n",
        post(b"one") + post(b"two", path="/other"),
        post(b"one") + post(b"two", more="X-Two: b\r\n"),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: " + b"1" * 5_000 + b"\r\n\r\n",
        post(b"one", path="@198.18.0.9/add"),
        post(b"one", path="http://198.18.0.9/add"),
        post(b"one", path="/add\x00"),
        post(b"one", path="/add\x1b]0;x"),
        post(b"one", path="/" + "x" * 10_000),
        post(b"one", more="X-Two: a\nX-Three: b\r\n"),
        post(b"one", more="X-Two: a\x00\r\n"),
        post(b"one", more="\x00: a\r\n"),
        post(b"one", more="".join(f"X-{n}: a\r\n" for n in range(200))),
        post(b"one").replace(b"POST", b"--cacert"),
    ],
)
def test_what_no_load_generator_could_send_alike_is_refused(sent: bytes) -> None:
    with pytest.raises(NotRecorded):
        recorded.http([sent])


def test_messages_of_grpc_are_read_from_their_frames() -> None:
    sent = PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, b"headers") + frame(0, 1, 1, message(b"one"))
    sent += frame(1, 4, 3, b"headers") + frame(0, 0, 3, message(b"two")[:4]) + frame(0, 1, 3, message(b"two")[4:])
    sent += frame(0, 0x9, 5, b"\x02" + message(b"three") + b"\x00\x00")
    asked = recorded.grpc([PREFACE + frame(0, 1, 1, message(b"identity")), sent], "orch.v1.Orch/Add")
    assert (asked.path, asked.bodies) == ("orch.v1.Orch/Add", (b"one", b"two", b"three"))


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\n\r\n",
        PREFACE,
        PREFACE + frame(0, 1, 1, message(b"packed", packed=1)),
        PREFACE + frame(0, 1, 1, message(b"one") + message(b"two")),
        PREFACE + frame(0, 1, 1, b""),
        PREFACE + frame(0, 1, 1, message(b"cut"))[:-1],
        PREFACE + frame(0, 0x9, 1, b""),
        PREFACE + frame(0, 0x9, 1, b"\xff" + message(b"one")),
    ],
)
def test_what_is_no_plain_unary_message_is_refused(sent: bytes) -> None:
    with pytest.raises(NotRecorded):
        recorded.grpc([sent], "a.B/C")
