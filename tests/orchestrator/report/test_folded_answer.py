"""The answer in full, where it has very many sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report import render
from tests.support.pages import Document
from tests.support.summaries import a_run

MOST = 12


@pytest.mark.parametrize("count", [MOST, MOST + 1])
def test_sentences_beyond_a_number_are_folded(count):
    run = a_run(stacks=2)
    sentences = tuple(f"grpc answers setting {number} first." for number in range(count))
    document = Document(render(replace(run, verdicts=sentences)))
    folds = [e for e in document.all("details") if e.attributes.get("id") == "each-setting"]
    assert len(folds) == (count > MOST)
    assert all(document.text.replace("\u00a0", " ").count(sentence) == 1 for sentence in sentences)
