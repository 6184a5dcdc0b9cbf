from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report import in_text

HTML_READS = set("<>&\"'\\ \n")


@given(st.binary(max_size=64))
def test_whatever_is_written_is_read_again_to_the_bit(content):
    assert in_text.read(in_text.written(content)) == content


def test_four_bytes_take_five_letters_that_html_does_not_read():
    content = np.random.default_rng(1).bytes(40_000)
    text = in_text.written(content)
    assert len(text) == 50_000
    assert not HTML_READS & set(text)


@given(st.binary(max_size=64))
def test_it_is_the_base85_of_python_but_for_three_letters(content):
    assert in_text.written(content) == base64.b85encode(content).decode().translate(str.maketrans("<>&", ".:,"))


@pytest.mark.parametrize("text", ["<0000", "0000é", "00 00", "0", "000000", "~~~~~", "0000\n"])
def test_what_it_never_writes_is_refused(text):
    with pytest.raises(ValueError, match=r"it is cut off|no digits|no four bytes"):
        in_text.read(text)


def test_the_page_reads_the_same_digits():
    from importlib import resources

    script = resources.files("orchestrator.report").joinpath("assets/page.js").read_text(encoding="utf-8")
    found = re.search(r'const DIGITS = "([^"]*)"', script)
    assert found is not None
    assert found[1].encode() == in_text.DIGITS
