"""An answer of many settings: what holds for all of them is shown, and the sentences on each are folded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report import render
from tests.support.pages import Document
from tests.support.summaries import a_run


@pytest.mark.parametrize("settings", [12, 13])
def test_sentences_on_many_settings_are_folded_behind_what_holds_for_all(settings: int) -> None:
    run = a_run()
    group = run.comparisons[0].group
    each = [f"sentence {number:02}." for number in range(settings)]
    said = (f"{group}: it answers.", *(f"{group}: {text}" for text in each), "Last of all: bytes.")
    document = Document(render(replace(run, verdicts=said)))
    places = [document.text.index(text) for text in ("it answers.", "Last of all: bytes.", each[0], each[-1])]
    is_folded = settings == 13
    assert (places == sorted(places)) is is_folded
    assert any(e.attributes.get("id") == "each-setting" for e in document.all("details")) is is_folded
    assert ("13 sentences on single settings" in document.text) is is_folded
