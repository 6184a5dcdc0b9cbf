"""`compression: gzip`, from the plan to the wire: every HTTP and gRPC responder, every client of theirs."""

from __future__ import annotations

import zlib

import pytest
import zstandard

from services.python.codecs.zstd import Contexts
from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.contract.offers import protocols
from services.python.load.client import CallFailed
from services.python.trial.parts import CannotTry, check, load_parts
from tests.support.ends import responder
from tests.support.matrix import is_default_responder, others_slow
from tests.support.tap import tapped
from tests.support.wire import HTTP

GZIP = {"compression": "gzip"}
ZSTD = {"compression": "zstd"}
RECORDS = Payload(kind="records", count=300)
RESPONDERS = [(name, r.name) for name in (*HTTP, "grpc") for r in protocols()[name].responders]


def sizes(protocol: str, client: str, port: int, told: dict[str, str]) -> tuple[int, int]:
    """Both body sizes of one checked call: the reply was right."""
    trial = Trial(
        target=Target(host="127.0.0.1", port=port, identity="nonce"),
        protocol=protocol,
        client=client,
        operation="echo",
        record="",
        payload=RECORDS,
        load=Load(requests=0),
        knobs=told,
    )
    parts = load_parts(trial)
    return check(trial, parts, parts.make(1, lambda: 1))[1]


def bodies(stream: bytes, name: bytes = b"gzip") -> list[bytes]:
    """The body of each HTTP message; all of them say that they are compressed so."""
    found = []
    while stream:
        head, _, stream = stream.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        assert fields[b"content-encoding"] == name, head
        length = int(fields[b"content-length"])
        found.append(stream[:length])
        stream = stream[length:]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "implementation"), others_slow(RESPONDERS, is_default_responder))
def test_both_bodies_are_gzip_on_the_wire_and_counted_as_they_are_there(protocol: str, implementation: str) -> None:
    with responder(protocol, implementation=implementation) as (_, ready):
        plain = sizes(protocol, protocols()[protocol].sequential, ready["port"], {})
    with responder(protocol, implementation=implementation, knobs=GZIP) as (_, ready):
        for client in (client for client in protocols()[protocol].clients if client.kind == "call"):
            with tapped(ready["port"]) as tap:
                counted = sizes(protocol, client.name, tap.port, GZIP)
            ways = zip(counted, plain, (bytes(tap.sent), bytes(tap.received)), strict=True)
            for size, plain_size, stream in ways:
                assert size < plain_size / 2, client.name
                if protocol == "grpc":  # with the identity, heads and frames of HTTP/2
                    assert size < len(stream) < size + 1_500, client.name
                else:
                    body = bodies(stream)[-1]
                    assert len(body) == size, client.name
                    assert len(zlib.decompress(body, 31)) == pytest.approx(plain_size, rel=0.1), client.name


@pytest.mark.parametrize("client", [client.name for client in protocols()["rest"].clients])
def test_a_reply_that_is_not_compressed_is_an_error_and_so_is_such_a_request(client: str) -> None:
    with (
        responder("rest", implementation="starlette") as (_, ready),
        pytest.raises((CannotTry, CallFailed)),
    ):
        sizes("rest", client, ready["port"], GZIP)
    with (
        responder("rest", implementation="starlette", knobs=GZIP) as (_, ready),
        pytest.raises((CannotTry, CallFailed), match=r"415|which was not asked for"),
    ):
        sizes("rest", client, ready["port"], {})


@pytest.mark.parametrize(
    ("protocol", "implementation"),
    [
        ("rest", "starlette"),
        ("rest", "flask-gunicorn"),
        pytest.param("rest", "flask", marks=pytest.mark.slow),
        pytest.param("http+json", "asgi-granian", marks=pytest.mark.slow),
        pytest.param("connect", "asgi", marks=pytest.mark.slow),
    ],
)
def test_both_bodies_are_zstd_on_the_wire_and_counted_as_they_are_there(protocol: str, implementation: str) -> None:
    with responder(protocol, implementation=implementation) as (_, ready):
        plain = sizes(protocol, protocols()[protocol].sequential, ready["port"], {})
    with responder(protocol, implementation=implementation, knobs=ZSTD) as (_, ready):
        for client in protocols()[protocol].clients:
            if client.kind != "call" or "compression: zstd" in client.refuses:
                continue
            with tapped(ready["port"]) as tap:
                counted = sizes(protocol, client.name, tap.port, ZSTD)
            for size, plain_size, stream in zip(counted, plain, (bytes(tap.sent), bytes(tap.received)), strict=True):
                body = bodies(stream, b"zstd")[-1]
                assert len(body) == size < plain_size / 2, client.name
                assert len(zstandard.decompress(body)) == pytest.approx(plain_size, rel=0.1), client.name
        with pytest.raises((CannotTry, CallFailed), match=r"415|which was not asked for"):
            sizes(protocol, "pycurl", ready["port"], {})
        with pytest.raises((CannotTry, CallFailed)):
            sizes(protocol, "pycurl", ready["port"], GZIP)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plain",
        zstandard.compress(b"x" * 1000)[:-1],
        zstandard.compress(b"x") + b"more",
        zstandard.ZstdCompressor(write_content_size=False).compress(b"no size"),
        b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x01\x00\x00",  # a frame that says it holds 2^64 - 1 bytes
    ],
)
def test_what_is_not_one_whole_frame_of_a_message_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="zstd frame"):
        Contexts().unpack(body)
