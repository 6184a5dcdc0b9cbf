"""`compression: gzip`, from the plan to the wire: every HTTP and gRPC responder, every client of theirs."""

from __future__ import annotations

import zlib

import pytest
import zstandard

from services.python.codecs.coding import Contexts
from services.python.contract.lines import Payload
from services.python.contract.offers import protocols
from services.python.load.client import CallFailed
from services.python.trial.parts import CannotTry
from tests.support.ends import checked, responder, trial_of
from tests.support.servers import tapped
from tests.support.wire import HTTP

GZIP = {"compression": "gzip"}
RECORDS = Payload(kind="records", count=300)
RESPONDERS = [
    (name, r.name)
    for name in (*HTTP, "grpc")
    for r in protocols()[name].responders
    if "compression: gzip" not in r.refuses
]


def sizes(protocol: str, client: str, port: int, told: dict[str, str]) -> tuple[int, int]:
    """Both body sizes of one checked call: the reply was right."""
    return checked(trial_of(protocol, client, port, operation="echo", payload=RECORDS, knobs=told))[1]


def bodies(stream: bytes, name: bytes) -> list[bytes]:
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


@pytest.mark.parametrize("client", [client.name for client in protocols()["rest"].clients])
def test_a_reply_that_is_not_compressed_is_an_error_and_so_is_such_a_request(client: str) -> None:
    with responder("rest", implementation="starlette") as (_, ready), pytest.raises((CannotTry, CallFailed)):
        sizes("rest", client, ready["port"], GZIP)
    with (
        responder("rest", implementation="starlette", knobs=GZIP) as (_, ready),
        pytest.raises((CannotTry, CallFailed), match=r"415|which was not asked for"),
    ):
        sizes("rest", client, ready["port"], {})


ZSTD_ENDS = [("rest", "starlette"), ("http+json", "asgi-granian")]
ZSTD_ENDS_TOO = [("connect", "asgi")]


@pytest.mark.parametrize(
    ("coding", "protocol", "implementation"),
    [
        *(pytest.param("gzip", *end, marks=pytest.mark.slow) for end in RESPONDERS),
        *(("zstd", *end) for end in ZSTD_ENDS),
        *(pytest.param("zstd", *end, marks=pytest.mark.slow) for end in ZSTD_ENDS_TOO),
    ],
)
def test_both_bodies_are_compressed_on_the_wire_and_counted_as_they_are_there(
    coding: str, protocol: str, implementation: str
) -> None:
    knobs = {"compression": coding}
    with responder(protocol, implementation=implementation) as (_, ready):
        plain = sizes(protocol, protocols()[protocol].sequential, ready["port"], {})
    with responder(protocol, implementation=implementation, knobs=knobs) as (_, ready):
        for client in protocols()[protocol].clients:
            if client.kind != "call" or f"compression: {coding}" in client.refuses:
                continue
            with tapped(ready["port"]) as tap:
                counted = sizes(protocol, client.name, tap.port, knobs)
            for size, plain_size, stream in zip(counted, plain, (bytes(tap.sent), bytes(tap.received)), strict=True):
                assert size < plain_size / 2, client.name
                if protocol == "grpc":  # with the identity, heads and frames of HTTP/2
                    assert size < len(stream) < size + 1_500, client.name
                    continue
                body = bodies(stream, coding.encode())[-1]
                assert len(body) == size, client.name
                unpacked = zlib.decompress(body, 31) if coding == "gzip" else zstandard.decompress(body)
                assert len(unpacked) == pytest.approx(plain_size, rel=0.1), client.name
        if coding == "zstd":
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
