"""The numbers of the stored runs stay what they are."""

from __future__ import annotations

import pytest

from tests.corpus.numbers import computed, differences, names, stored


@pytest.mark.parametrize("name", names())
def test_a_stored_run_gives_the_numbers_that_were_written_down(name: str) -> None:
    assert list(differences(stored(name), computed(name))) == []
