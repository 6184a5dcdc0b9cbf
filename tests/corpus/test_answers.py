"""The sentences of the stored runs are those that were written down; `python -m tests.corpus.answers` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.answers import RUNS, golden, name_of, sentences


@pytest.mark.slow
@pytest.mark.parametrize("packed", RUNS, ids=name_of)
def test_the_sentences_of_a_stored_run_are_those_written_down(packed: Path) -> None:
    assert sentences(packed) == golden(packed).read_text(encoding="utf-8")
