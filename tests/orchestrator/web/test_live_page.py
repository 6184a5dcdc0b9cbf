"""The page that follows a run in progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orchestrator.web import live_page, live_view
from orchestrator.workspace import Workspace
from tests.support.growing import Growing
from tests.support.plans import plan
from tests.support.web import EVIL, client


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(live_view, "LOOK_S", 0.0)


@pytest.fixture
def run(tmp_path: Path) -> Growing:
    return Growing(tmp_path).measuring()


@pytest.fixture
def pages(tmp_path: Path) -> TestClient:
    return client(Workspace(tmp_path))


def test_the_page_follows_a_run_to_its_end(pages, run):
    assert "data-going" in pages.get(f"/live/{run.id}").text
    run.trial(0, 1.25)
    answer = pages.get(f"/live/{run.id}")
    assert "<title>1/4 " in answer.text
    assert "1.25 ms" in answer.text
    run.end()
    assert "data-going" in pages.get(f"/live/{run.id}").text
    run.let_go()
    assert "data-going" not in pages.get(f"/live/{run.id}").text


def test_the_page_shows_how_a_run_stands_and_follows_it(pages, run):
    run.trial(0, 0.3)
    answer = pages.get(f"/live/{run.id}")
    assert answer.context["view"].progress.done == 1
    assert [row.median_ms for row in answer.context["rows"]] == [0.3, None]
    assert "/assets/live.js" in answer.text
    assert '<noscript><meta http-equiv="refresh"' in answer.text


def test_the_page_of_a_run_that_has_ended_follows_nothing(pages, run):
    run.end()
    run.let_go()
    text = pages.get(f"/live/{run.id}").text
    assert "/assets/live.js" not in text
    assert 'http-equiv="refresh"' not in text
    assert f'<a href="/runs/{run.id}">' in text


def test_text_of_a_run_stays_text_and_what_is_invisible_is_shown(tmp_path, pages):
    text = EVIL + "\u202e"
    planned = plan("tcp", name=text, question=text)
    planned = replace(planned, stacks=tuple(replace(stack, label=text) for stack in planned.stacks))
    run = Growing(tmp_path, planned).measuring()
    run.folder.append({"event": "warning", "text": text})
    run.trial(0)
    for shown in (pages.get(f"/live/{run.id}").text, pages.get("/live").text):
        assert EVIL not in shown
        assert "\u202e" not in shown


def test_the_runs_in_progress_are_listed(tmp_path, pages, run):
    run.trial(0, 2.0)
    ended = Growing(tmp_path, plan("tcp"))
    ended.end()
    ended.let_go()
    listed = pages.get("/live").context["runs"]
    assert [(each.run, each.done, each.trials) for each in listed] == [(run.id, 1, 4)]


def test_of_very_many_cells_the_page_shows_some_and_how_many_more(pages, run, monkeypatch):
    monkeypatch.setattr(live_page, "MOST_ROWS", 1)
    answer = pages.get(f"/live/{run.id}")
    assert [row.label for row in answer.context["rows"]] == ["tcp · echo 64 B"]
    assert "1 more cell" in answer.text


def test_a_damaged_journal_is_a_page(pages, run):
    with (run.folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(b"nonsense\n")
    answer = pages.get(f"/live/{run.id}")
    assert (answer.status_code, answer.context["view"].state) == (200, "unreadable")
