"""A picture of exactly so many bytes."""

from __future__ import annotations

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from services.python.operations.picture import LARGEST, SMALLEST, picture


@given(size=st.integers(SMALLEST, 200_000))
def test_every_size_gives_a_picture_of_that_size_that_pillow_decodes(size: int):
    content = picture(size)
    assert len(content) == size
    with Image.open(io.BytesIO(content)) as opened:
        opened.load()
        assert opened.format == "PNG"
        assert opened.mode == "RGB"


def test_a_large_picture_is_nearly_all_pixels():
    with Image.open(io.BytesIO(picture(1_580_000))) as opened:
        opened.load()
        width, height = opened.size
    assert width * height * 3 > 0.99 * 1_580_000
    assert abs(width - height) < 10


def test_the_same_bytes_on_every_machine():
    digest = hashlib.sha256(picture(10_000)).hexdigest()
    expected = "d47df6a8730a9dda6d4a3797199589eb53420c210af9b8c12cb7f0548f628afe"  # pragma: allowlist secret
    assert digest == expected


@pytest.mark.parametrize("size", [0, -1, SMALLEST - 1, LARGEST + 1])
def test_a_size_that_cannot_be_is_refused(size: int):
    with pytest.raises(ValueError, match="was asked for"):
        picture(size)
