"""How replies are read, whatever client brought them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed
from services.python.transports.http.route import Route, authority, shown

ROUTE = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_comes_back_as_it_went(value: object) -> None:
    assert json.loads(json_bytes(value)) == value


def test_json_is_compact_and_utf8() -> None:
    assert json_bytes({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_bytes(float("nan"))


def test_a_good_reply_is_decoded() -> None:
    assert ROUTE.read(200, b'{"sum": 3}') == {"sum": 3}


@pytest.mark.parametrize("status", [100, 201, 204, 302, 404, 500])
def test_any_other_status_is_an_error_of_the_protocol(status: int) -> None:
    with pytest.raises(CallFailed, match=f"HTTP {status}: b'oops'") as failure:
        ROUTE.read(status, b"oops")
    assert failure.value.status == "protocol"


def test_an_undecodable_body_shows_its_beginning() -> None:
    with pytest.raises(CallFailed, match="<html>") as failure:
        ROUTE.read(200, b"<html>" + b"." * 1000)
    assert failure.value.status == "undecodable"
    assert len(failure.value.detail) < 350


def test_a_long_body_is_cut_where_it_is_shown() -> None:
    assert shown(b"short") == "b'short'"
    assert shown(b"x" * 1000) == repr(b"x" * 200) + "..."


def test_ipv6_addresses_stand_in_brackets() -> None:
    assert authority("127.0.0.1", 80) == "127.0.0.1:80"
    assert authority("::1", 80) == "[::1]:80"
