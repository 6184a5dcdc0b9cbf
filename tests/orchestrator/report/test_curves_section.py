"""The section of curves in the page."""

from __future__ import annotations

import pytest

from orchestrator.questions.axes.words import sentence as gap_sentence
from orchestrator.report import render
from tests.support.curves import DISTANCE, LINKS, SIZES, a_run_with_curves
from tests.support.pages import Document
from tests.support.summaries import a_run


@pytest.fixture(scope="module")
def document():
    return Document(render(a_run_with_curves()))


def test_the_sentences_stand_in_the_section(document):
    for curves in (DISTANCE, SIZES):
        for panel in curves.panels:
            for gap in panel.gaps:
                assert gap_sentence(curves.axis, gap) in document.text.replace("\u00a0", " ")


def test_links_have_their_table(document):
    (links,) = (table for table in document.tables if table.caption.startswith("Round trips in ms, by ping"))
    row = links.row("distance-20ms")
    assert row["Asked for"].values == [20.0]
    assert row["Measured"].values == [LINKS[0].measured, LINKS[0].low, LINKS[0].high]
    assert row["As asked for"].text == "yes"


def test_a_run_without_an_axis_has_no_such_section():
    page = Document(render(a_run(stacks=2)))
    assert "curves" not in [element.attributes.get("id") for element in page.all("section")]
    assert "#curves" not in {element.attributes["href"] for element in page.all("a")}
