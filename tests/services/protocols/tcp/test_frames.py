"""The frames of `tcp`: what goes in comes out, and what does not fit is refused."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.protocols.tcp import frames
from services.python.protocols.tcp.frames import (
    FrameError,
    FrameReader,
    decode_reply,
    decode_request,
    encode_reply,
    send_frame,
)


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        (frames.IDENTITY, {"identity": "nonce"}),
        (frames.TIMESTAMP, {"request_timestamp": "a", "response_timestamp": "b"}),
        (frames.ADD, {"sum": -(2**31) - 2**31}),
        (frames.ECHO_DATA, {"data": b"\0\1"}),
        (frames.ECHO_RECORDS, {"records": [{"id": 1}]}),
        (frames.ECHO_DOCUMENT, {"document": None}),
        (frames.IMAGE, {"width": 3, "height": 4}),
        (frames.EXCHANGE, {"data": b"abc"}),
    ],
)
def test_a_reply_comes_out_as_it_went_in(code, reply):
    assert decode_reply(code, encode_reply(code, reply)) == reply


@given(code=st.integers(0, 254), body=st.binary(max_size=30))
def test_any_bytes_are_decoded_or_refused(code, body):
    for decode in (decode_request, decode_reply):
        with contextlib.suppress(FrameError):
            assert isinstance(decode(code, body), dict)


@given(bodies=st.lists(st.binary(max_size=300), max_size=5), large=st.integers(0, 200_000))
def test_frames_of_any_size_pass_a_socket_one_after_the_other(bodies, large):
    ours, theirs = socket.socketpair()
    wanted = [*bodies, bytes(large)]
    with ours, theirs:
        reader = FrameReader(theirs)
        for body in wanted:
            sending = threading.Thread(target=send_frame, args=(ours, 3, body))
            sending.start()
            assert reader.read() == (3, body)
            sending.join()
        ours.close()
        assert reader.read() is None


@pytest.mark.parametrize("torn", [b"\0", b"\0\0\0\3\1", b"\0\0\0\3\1ab"])
def test_a_stream_that_ends_inside_a_frame_is_a_broken_connection(torn):
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(torn)
        with pytest.raises(ConnectionResetError, match="inside a frame"):
            FrameReader(theirs).read()


def test_a_frame_beyond_all_measure_is_refused_before_any_memory_is_taken():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"\xff\xff\xff\xff\1")
        with pytest.raises(FrameError, match="4,294,967,295 bytes"):
            FrameReader(theirs).read()
