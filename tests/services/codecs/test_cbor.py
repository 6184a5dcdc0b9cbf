"""What is particular to CBOR; the rest is shown in tests/services/python/transports/http/test_binary.py."""

from __future__ import annotations

import pytest

from services.python.codecs.cbor import CODEC


def test_the_bytes_are_those_of_rfc_8949() -> None:
    """A map of two: text strings "a" and "b", unsigned 1 and negative 1 (RFC 8949, section 3.1)."""
    assert CODEC.request("add").write({"a": 1, "b": -1}) == bytes.fromhex("a2 6161 01 6162 20")


def test_a_reply_without_named_fields_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected named fields, not int"):
        CODEC.reply("add").read(b"\x01")
