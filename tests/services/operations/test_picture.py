"""A picture of exactly so many bytes."""

from __future__ import annotations

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


@pytest.mark.parametrize("size", [0, -1, SMALLEST - 1, LARGEST + 1])
def test_a_size_that_cannot_be_is_refused(size: int):
    with pytest.raises(ValueError, match="was asked for"):
        picture(size)
