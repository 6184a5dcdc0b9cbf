"""A run in Markdown, and in a line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report.markdown import MOST_ROWS, markdown
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from tests.orchestrator.questions.capacity.test_find import a_search, capacity
from tests.orchestrator.report.test_render import HOSTILE
from tests.support.findings import labelled, measured
from tests.support.searched import a_search_run
from tests.support.summaries import a_run, failed_run


def test_it_begins_with_the_question_and_the_first_sentence():
    run = a_run()
    heading, _, first, *_ = markdown(run).splitlines()
    assert heading == f"# {run.run.question}"
    assert first.startswith(f"- **{answer(run).lines[0].head}:** ")


def test_it_has_a_row_for_each_cell_with_its_standing():
    lines = [row for row in markdown(a_run()).splitlines() if row.startswith("| ")]
    assert len(lines) == 2 + 6 + 1
    assert len({row.count("|") for row in lines}) == 1
    assert any(row.startswith("| grpc |") and "−31 %" in row for row in lines)
    assert any("| reference |" in row for row in lines)


def test_it_says_how_to_repeat_it_and_what_the_checks_found():
    text = markdown(failed_run())
    assert "**No result:**" in text
    assert "- fail: **floor**" in text
    assert "1 failed, 1 passed, 1 warning, 1 undecided" in text
    assert f"    {failed_run().run.repeat_command}" in text


def test_of_many_rows_it_shows_the_first_and_says_so():
    run = a_run(stacks=1)
    cells = tuple(labelled(replace(run.cells[0], id=str(n)), load=f"{n} in flight") for n in range(MOST_ROWS + 3))
    text = markdown(replace(run, cells=cells, comparisons=()))
    assert " more tables in the report." in text


def test_a_text_of_an_experiment_is_neither_markup_nor_a_cell_of_its_own():
    run = a_run(stacks=2)
    hostile = f"{HOSTILE} | x\n# y"
    cells = tuple(labelled(cell, stack=hostile) for cell in run.cells)
    text = markdown(measured(replace(run, cells=cells), question=hostile))
    assert "\n# y" not in text
    assert "<script>" not in text.replace("\\<", "")
    rows = [row.replace("\\|", "") for row in text.splitlines() if row.startswith("| ")]
    assert len({row.count("|") for row in rows}) == 1


@pytest.mark.parametrize("link", ["https://evil.example/x", "ftp://a.b", "WWW.evil.example"])
def test_an_address_in_a_text_of_others_becomes_no_link(link):
    text = markdown(measured(a_run(), question=f"See {link}"))
    assert link not in text
    assert link in text.replace("<!-- -->", "")


def test_of_searches_the_table_has_the_rates_found():
    text = markdown(summarise(a_search_run(a_search(), capacity())))
    assert "highest rate while" in text
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    assert len(rows) == 2 + 2
    assert any(row.startswith("| grpc") and "| 800/s |" in row for row in rows)
