"""The list of runs: its order, filters and pages."""

from __future__ import annotations

import pytest

from orchestrator.web import list_page
from orchestrator.web.list_page import Conditions
from orchestrator.web.site import Site
from orchestrator.wording.answer import answer
from orchestrator.workspace import Workspace
from tests.support.web import OLDER, RUNS, WITH_SAMPLES, client

ALL = [*reversed(RUNS), WITH_SAMPLES, OLDER]


def listed(pages, query: str = "") -> list[str]:
    return [run.id for run in pages.get(f"/?{query}").context["runs"]]


def test_the_list_has_every_run_newest_first(pages):
    assert listed(pages)[:6] == ALL[:6]
    assert sorted(listed(pages)) == sorted(ALL)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("text=script", 3),
        ("text=GRPC", 6),
        ("text=grpc+nowhere", 0),
        ("text=%25", 6),  # a per cent sign is no pattern
        ("text=not+judged", 2),
        ("since=2026-11-14", 2),
        ("until=2026-11-10&text=made", 1),
        ("text=", 8),
    ],
)
def test_search_and_filters(pages, query, count):
    assert len(listed(pages, query)) == count
    assert pages.get(f"/?{query}").context["total"] == count


def test_a_list_has_pages_and_one_beyond_them_is_the_last(pages, monkeypatch):
    monkeypatch.setattr(list_page, "PER_PAGE", 3)
    answers = [pages.get(f"/?page={page}").context for page in (1, 2, 3, 99)]
    assert [len(answer["runs"]) for answer in answers] == [3, 3, 2, 2]
    assert [answer["page"] for answer in answers] == [1, 2, 3, 3]
    assert {(answer["total"], answer["pages"]) for answer in answers} == {(8, 3)}


def test_links_to_other_pages_keep_the_filters(pages, monkeypatch):
    monkeypatch.setattr(list_page, "PER_PAGE", 3)
    assert 'href="/?page=2&amp;text=grpc"' in pages.get("/?text=grpc").text


def test_the_first_page_has_the_newest_result_that_can_be_judged(pages, shared, monkeypatch):
    monkeypatch.setattr(list_page, "_MOST_TRIED", len(ALL))
    newest = pages.get("/").context["newest"]
    assert newest["run"].id == WITH_SAMPLES
    assert newest["answer"] == answer(Site(shared).judged(WITH_SAMPLES).summary)
    assert [picture.title for picture in newest["pictures"]] == ["add · local · connections kept open"]
    assert pages.get("/?text=grpc").context["newest"] is None


def test_each_judged_run_has_a_dot_for_each_of_its_cells(pages):
    pictures = pages.get("/").context["pictures"]
    assert {run: picture.count("<circle") for run, picture in pictures.items()} == dict.fromkeys(RUNS, 2)


def test_empty_conditions_do_not_count():
    assert Conditions(text=" grpc ", since=" ", until="").given == {"text": "grpc"}


def test_without_runs_the_page_is_empty_and_nothing_is_made(tmp_path):
    answer = client(Workspace(tmp_path)).get("/")
    assert (answer.status_code, answer.context["runs"]) == (200, [])
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_is_on_the_page(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / ".orch").write_text("no folder")
    assert len(client(Workspace(tmp_path)).get("/").context["troubles"]) == 1
