"""Responders of other languages, asked by who means harm: they refuse in words, and answer the next one."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from orchestrator.catalogue.read import catalogue
from services.python.contract.responder_lines import Serve
from tests.support.built import why_not
from tests.support.ends import Program

pytestmark = pytest.mark.busy

LANGUAGES = ("go", "node", "rust")
ERROR = 255


class _Here:
    services = PurePosixPath(catalogue().folder)

    def python(self) -> tuple[str, ...]:
        return (sys.executable,)


class _Started(Program):
    def __init__(self, language: str) -> None:
        self.process = subprocess.Popen(
            catalogue().languages[language].argv("respond", _Here()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(params=LANGUAGES)
def responder(request: pytest.FixtureRequest) -> Iterator[tuple[Program, int]]:
    """A responder of `tcp`, and its port."""
    if why := why_not(request.param):
        pytest.skip(why)
    started = _Started(request.param)
    try:
        started.send(Serve(protocol="tcp", identity="nonce").to_json())
        ready = started.read()
        assert ready, started.ended()
        yield started, ready["port"]
    finally:
        started.stop()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def asked(port: int, code: int, body: bytes, length: int | None = None) -> tuple[int, bytes]:
    """The code and the body of the reply to a frame, that says it is so long."""
    with connected(port) as connection, connection.makefile("rb") as came:
        connection.sendall(struct.pack(">IB", len(body) if length is None else length, code) + body)
        size, answered = struct.unpack(">IB", came.read(5))
        return answered, came.read(size)


def answers(port: int) -> bool:
    return asked(port, 2, struct.pack(">ii", 3, 4)) == (2, struct.pack(">q", 7))


def a_picture_of(width: int, height: int) -> bytes:
    """A PNG of a kilobyte that says it is so large."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)
    content = zlib.compress(bytes(1 << 20))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [65_000, 100_000, (1 << 31) - 1])
def test_a_picture_that_says_it_has_billions_of_pixels_is_refused(responder: tuple[Program, int], side: int) -> None:
    _, port = responder
    assert asked(port, 6, b"\x01" + a_picture_of(side, side))[0] == ERROR
    assert answers(port)


@pytest.mark.parametrize(
    ("code", "body", "length"),
    [
        (3, b"", 0xFFFFFFFF),
        (7, b"\xff\xff\xff\xff", None),
        (8, b"\xff\xff\xff\xff", None),
        (5, b"[" * 100_000, None),
        (5, b"[" * 100_000 + b"]" * 100_000, None),
        (6, b"", None),
        (200, b"", None),
    ],
)
def test_a_frame_that_cannot_be_answered_is_refused(
    responder: tuple[Program, int], code: int, body: bytes, length: int | None
) -> None:
    _, port = responder
    assert asked(port, code, body, length)[0] == ERROR
    assert answers(port)
