"""Every codec of single messages: each message comes back as it went, and junk is never more than an error."""

from __future__ import annotations

import contextlib
import importlib
import math
import pkgutil
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from services.python import codecs
from services.python.codecs.base import Codec
from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.bodies.requester import dialer

# A codec that is added is tested with its like, without being entered anywhere.
MODULES = {
    found.name: importlib.import_module(f"services.python.codecs.{found.name}")
    for found in pkgutil.iter_modules(codecs.__path__)
}
CODECS: dict[str, Codec] = {name: module.CODEC for name, module in MODULES.items() if hasattr(module, "CODEC")}
JSON = {"json", "orjson"}  # it has no word for infinity, and none for bytes
size = st.integers(0, 2**31 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
# A 32-bit sum and 64-bit identifiers are what the operations make; text is anything that UTF-8 can write.
text = st.text(st.characters(exclude_categories=("Cs",)))
record = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "name": text,
        "value": st.floats(allow_nan=False),
        "active": st.booleans(),
        "tags": st.lists(text, max_size=4),
    }
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=10,
)
account = st.fixed_dictionaries({"account": int32, "owner": text, "balance": int32})
post = st.fixed_dictionaries({"post": int32, "author": int32, "title": text, "text": text, "likes": int32})
comment = st.fixed_dictionaries({"comment": int32, "post": int32, "author": int32, "text": text})
user = {"user": int32, "name": text, "about": text, "joined": int32}
page = {"user": int32, "count": int32, "each": int32}
transaction = st.fixed_dictionaries(dict.fromkeys(("number", "payer", "payee", "amount"), int32))
REQUESTS = {
    "identity": st.just({}),
    "timestamp": st.fixed_dictionaries({"request_timestamp": text}),
    "add": st.fixed_dictionaries({"a": int32, "b": int32}),
    "echo/data": st.fixed_dictionaries({"data": st.binary()}),
    "echo/records": st.fixed_dictionaries({"records": st.lists(record, max_size=5)}),
    "echo/document": st.fixed_dictionaries({"document": json_values}),
    "image": st.fixed_dictionaries({"data": st.binary(), "full_decode": st.booleans()}),
    "transfer": st.fixed_dictionaries({"data": st.binary(), "reply_size": size}),
    "balance": st.fixed_dictionaries({"account": int32}),
    "payment": st.fixed_dictionaries({"payer": int32, "payee": int32, "amount": int32}),
    "transactions": st.fixed_dictionaries({"account": int32, "count": int32}),
    "accounts": st.fixed_dictionaries({"after": int32, "count": int32}),
    "user": st.fixed_dictionaries({"user": int32}),
    "posts": st.fixed_dictionaries({"user": int32, "count": int32}),
    "comments": st.fixed_dictionaries(page),
    "feed": st.fixed_dictionaries(page),
}
REPLIES = {
    **REQUESTS,
    "identity": st.fixed_dictionaries({"identity": text}),
    "timestamp": st.fixed_dictionaries({"request_timestamp": text, "response_timestamp": text}),
    "add": st.fixed_dictionaries({"sum": int32}),
    "image": st.fixed_dictionaries({"width": size, "height": size}),
    "transfer": st.fixed_dictionaries({"data": st.binary()}),
    "balance": account,
    "payment": st.fixed_dictionaries({"accepted": st.booleans(), "payment": int32, "balance": int32}),
    "transactions": st.fixed_dictionaries({"transactions": st.lists(transaction, max_size=5)}),
    "accounts": st.fixed_dictionaries({"accounts": st.lists(account, max_size=5)}),
    "user": st.fixed_dictionaries(user),
    "posts": st.fixed_dictionaries({"posts": st.lists(post, max_size=5)}),
    "comments": st.fixed_dictionaries({"comments": st.lists(comment, max_size=5)}),
    "feed": st.fixed_dictionaries(
        {**user, "posts": st.lists(post, max_size=5), "comments": st.lists(comment, max_size=5)}
    ),
}


@pytest.mark.parametrize("message", REQUESTS)
@pytest.mark.parametrize("name", CODECS)
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_every_message_comes_back_as_it_went(name: str, message: str, data: Any) -> None:
    for coder, values in (
        (CODECS[name].request(message), REQUESTS[message]),
        (CODECS[name].reply(message), REPLIES[message]),
    ):
        fields = data.draw(values)
        assume(name not in JSON or math.inf not in map(abs, (r["value"] for r in fields.get("records", ()))))
        assert coder.read(coder.write(fields)) == fields


@pytest.mark.parametrize("message", REQUESTS)
@pytest.mark.parametrize("name", CODECS)
@settings(deadline=None, max_examples=10)
@given(junk=st.binary(max_size=100))
def test_junk_is_an_error_that_the_codec_names(name: str, message: str, junk: bytes) -> None:
    with contextlib.suppress(*CODECS[name].errors):
        assert isinstance(CODECS[name].reply(message).read(junk), dict)


@pytest.mark.parametrize("name", CODECS)
def test_a_reply_cut_short_is_an_error(name: str) -> None:
    coder = CODECS[name].reply("echo/data")
    whole = coder.write({"data": b"x" * 1000})
    with pytest.raises(CODECS[name].errors):
        coder.read(whole[:-1])


@pytest.mark.parametrize("name", sorted(CODECS.keys() - JSON))
def test_bytes_are_carried_as_they_are(name: str) -> None:
    data = bytes(range(256))
    written = CODECS[name].request("echo/data").write({"data": data})
    assert data in written
    assert len(written) - len(data) < 16


@pytest.mark.parametrize("name", sorted(JSON))
def test_json_carries_bytes_as_base64_and_refuses_what_is_none(name: str) -> None:
    coder = CODECS[name].request("echo/data")
    assert coder.write({"data": b"\xff\x00"}) == b'{"data":"/wA="}'
    for body in (b'{"data":"/w A="}', b'{"data":7}', b"{}"):
        with pytest.raises(ValueError, match="base64"):
            coder.read(body)


def test_cbor_writes_the_bytes_of_rfc_8949() -> None:
    """A map of two: text strings "a" and "b", unsigned 1 and negative 1 (RFC 8949, section 3.1)."""
    assert CODECS["cbor"].request("add").write({"a": 1, "b": -1}) == bytes.fromhex("a2 6161 01 6162 20")


def test_a_reply_without_named_fields_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected named fields, not int"):
        CODECS["cbor"].reply("add").read(b"\x01")


@pytest.mark.parametrize(("protocol", "too_large"), [("http+msgpack", 2**64), ("http+protobuf", 2**53 + 1)])
def test_a_number_that_a_codec_cannot_carry_is_refused_before_anything_is_sent(protocol: str, too_large: int) -> None:
    call = CallSpec(host="127.0.0.1", port=1, operation="echo", timeout_s=1, example={"document": too_large})
    with pytest.raises(CallFailed) as refused:
        dialer(call, find_protocol(protocol).client("pycurl"))
    assert refused.value.status == "protocol"
