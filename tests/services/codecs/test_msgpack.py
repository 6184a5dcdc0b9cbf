"""What is particular to MessagePack; the rest is shown in tests/services/python/transports/http/test_binary.py."""

from __future__ import annotations

import pytest

from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.msgpack import PROTOCOL
from services.python.protocols.msgpack.requester import dialer


def test_an_integer_of_more_than_64_bits_is_refused_before_anything_is_sent() -> None:
    call = CallSpec(host="127.0.0.1", port=1, operation="echo", timeout_s=1, example={"document": 2**64})
    with pytest.raises(CallFailed, match="cannot be encoded for /echo/document: Integer value out of range"):
        dialer(call, PROTOCOL.client("pycurl"))
