"""How REST's requests look."""

from __future__ import annotations

import pytest

from services.python.protocols.rest.requester import route


def test_structured_requests_are_json() -> None:
    add = route("add", {"a": 1, "b": 2})
    assert (add.path, add.content_type) == ("/add", "application/json")
    assert add.encode({"a": 3, "b": -4}) == b'{"a":3,"b":-4}'


@pytest.mark.parametrize(("full_decode", "query"), [(True, "true"), (False, "false")])
def test_a_picture_is_a_raw_body_with_its_flag_in_the_query(full_decode: bool, query: str) -> None:
    request = {"data": b"\x89PNG", "full_decode": full_decode}
    image = route("image", request)
    assert (image.path, image.content_type) == (f"/image?full_decode={query}", "image/png")
    assert image.encode(request) == b"\x89PNG"


def test_bytes_are_a_raw_body() -> None:
    echo = route("echo", {"data": b"\x00\xff"})
    assert (echo.path, echo.content_type) == ("/echo/data", "application/octet-stream")
    assert echo.encode({"data": b"\x00\xff"}) == b"\x00\xff"
    assert echo.value(echo.decode(b"\x00\xff")) == {"data": b"\x00\xff"}


@pytest.mark.parametrize("form", ["records", "document"])
def test_what_is_echoed_is_the_whole_body(form: str) -> None:
    echo = route("echo", {form: [1]})
    assert echo.path == f"/echo/{form}"
    assert echo.encode({form: [1]}) == b"[1]"
    assert echo.value(echo.decode(b"[1]")) == {form: [1]}
