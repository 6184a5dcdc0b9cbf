"""ICMP echo packets."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from services.python.probes.icmp import V4, V6, echo_request, internet_checksum, is_reply

sequences = st.integers(1, 0xFFFF)
payloads = st.binary(max_size=200)


def _reply_to(request: bytes, reply_type: int) -> bytes:
    return bytes([reply_type]) + request[1:]


def test_the_checksum_of_rfc_1071s_example():
    assert internet_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2


@given(sequence=sequences, payload=payloads)
def test_a_reply_is_known_by_sequence_identifier_and_payload(sequence: int, payload: bytes):
    reply = _reply_to(echo_request(V6, 7, sequence, payload), 129)
    assert is_reply(V6, reply, 7, sequence, payload)
    assert is_reply(V6, reply, None, sequence, payload)
    assert not is_reply(V6, reply, 8, sequence, payload)
    assert not is_reply(V6, reply, 7, sequence % 0xFFFF + 1, payload)
    assert not is_reply(V6, reply, 7, sequence, payload + b"x")


def test_an_ipv4_header_before_it_is_skipped():
    reply = _reply_to(echo_request(V4, 7, 1, b"abc"), 0)
    header_with_options = struct.pack("!B23x", 0x46)
    assert is_reply(V4, header_with_options + reply, 7, 1, b"abc")


def test_our_own_request_that_the_loopback_shows_is_no_reply():
    assert not is_reply(V4, echo_request(V4, 7, 1, b""), 7, 1, b"")
