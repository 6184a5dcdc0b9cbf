"""The site: folders found by name, and its pages: the list, comparisons and trends."""

from __future__ import annotations

import json
import os

import pytest
from fastapi import HTTPException

from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.between_runs.measured_runs import beside
from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.web import list_page
from orchestrator.web import site as module
from orchestrator.web.site import Site
from orchestrator.wording.answer import answer
from orchestrator.workspace import Workspace
from tests.support.past import with_samples
from tests.support.web import OLDER, RUNS, WITH_SAMPLES


@pytest.fixture
def site(tmp_path) -> Site:
    with_samples(tmp_path / "results" / WITH_SAMPLES)
    with_samples(tmp_path / "results" / OLDER)
    return Site(Workspace(tmp_path))


@pytest.fixture
def judgements(monkeypatch) -> list[str]:
    """The runs that were judged, in order."""
    judged = []
    summarise = module.summarise
    monkeypatch.setattr(module, "summarise", lambda folder: judged.append(folder.id) or summarise(folder))
    return judged


def test_a_run_is_judged_again_only_when_its_folder_has_changed(site, judgements):
    first = site.judged(WITH_SAMPLES)
    assert site.judged(WITH_SAMPLES) is first
    assert site.judged(OLDER).folder.id == OLDER
    manifest = first.folder.path / "manifest.json"
    os.utime(manifest, ns=(0, manifest.stat().st_mtime_ns + 1))
    again = site.judged(WITH_SAMPLES)
    assert again is not first
    assert again.summary == first.summary
    assert judgements == [WITH_SAMPLES, OLDER, WITH_SAMPLES]


def test_a_run_in_progress_is_not_judged(site, judgements):
    folder = RunFolder(site.workspace.results / WITH_SAMPLES)
    folder.hold()
    try:
        with pytest.raises(UsageError) as error:
            site.judged(WITH_SAMPLES)
        assert error.value.hint == f"/live/{WITH_SAMPLES} follows it"
    finally:
        folder.release()
    assert judgements == []
    assert site.judged(WITH_SAMPLES).folder.id == WITH_SAMPLES


def test_no_folder_is_a_run_without_files_of_a_run(site):
    (site.workspace.results / "empty").mkdir()
    for name in ("empty", "..", "", "a/b"):
        with pytest.raises(HTTPException) as error:
            site.folder(name)
        assert error.value.status_code == 404


def test_without_results_there_is_no_run_and_none_is_made(tmp_path):
    site = Site(Workspace(tmp_path))
    with pytest.raises(HTTPException):
        site.folder(WITH_SAMPLES)
    with site.index() as index:
        assert index.cells() == []
    assert list(tmp_path.iterdir()) == []


ALL = [*reversed(RUNS), WITH_SAMPLES, OLDER]


def listed(pages, query: str = "") -> list[str]:
    return [run.id for run in pages.get(f"/?{query}").context["runs"]]


def test_the_list_has_every_run_newest_first(pages):
    assert listed(pages)[:6] == ALL[:6]
    assert sorted(listed(pages)) == sorted(ALL)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("text=script", 4),
        ("text=GRPC", 9),
        ("text=grpc+nowhere", 0),
        ("text=%25", 9),  # a per cent sign is no pattern
        ("text=not+judged", 2),
        ("text=", 11),
    ],
)
def test_search_and_filters(pages, query, count):
    assert len(listed(pages, query)) == count
    assert pages.get(f"/?{query}").context["total"] == count


def test_a_list_has_pages_and_one_beyond_them_is_the_last(pages, monkeypatch):
    monkeypatch.setattr(list_page, "PER_PAGE", 3)
    answers = [pages.get(f"/?page={page}").context for page in (1, 2, 4, 99)]
    assert [len(answer["runs"]) for answer in answers] == [3, 3, 2, 2]
    assert [answer["page"] for answer in answers] == [1, 2, 4, 4]
    assert {(answer["total"], answer["pages"]) for answer in answers} == {(11, 4)}


def test_links_to_other_pages_keep_the_search(pages, monkeypatch):
    monkeypatch.setattr(list_page, "PER_PAGE", 3)
    assert 'href="/?page=2&amp;text=grpc"' in pages.get("/?text=grpc").text


def test_the_first_page_has_the_newest_result_that_can_be_judged(pages, shared, monkeypatch):
    monkeypatch.setattr(list_page, "_MOST_TRIED", len(ALL))
    newest = pages.get("/").context["newest"]
    assert newest["run"].id == WITH_SAMPLES
    assert newest["answer"] == answer(Site(shared).judged(WITH_SAMPLES).summary)
    assert [picture.title for picture in newest["pictures"]] == ["add · local · connections kept open"]
    assert pages.get("/?text=grpc").context["newest"] is None


def test_two_runs_are_compared_as_on_the_command_line(shared, pages):
    new, old = map(Site(shared).judged, (WITH_SAMPLES, OLDER))
    history = beside(new.summary, old.summary, new.folder, old.folder)
    expected = compare_runs(new.summary, old.summary, "p99", history)
    context = pages.get(f"/compare?run={WITH_SAMPLES}&run={OLDER}&statistic=p99").context
    (compared,) = context["compared"]
    assert expected.rows
    assert compared.rows == expected.rows


def test_one_run_compares_its_own_stacks(shared, pages):
    expected = compare_within(Site(shared).judged(WITH_SAMPLES).summary, "median")
    (compared,) = pages.get(f"/compare?run={WITH_SAMPLES}").context["compared"]
    assert expected.rows
    assert compared.rows == expected.rows


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (f"run={WITH_SAMPLES}&run=nope", 404),
        (f"run={WITH_SAMPLES}&run={WITH_SAMPLES}", 400),
        ("&".join(f"run={number}" for number in range(9)), 400),
        (f"run={WITH_SAMPLES}&statistic=p50", 400),
        (f"run={RUNS[0]}", 422),
    ],
)
def test_runs_that_cannot_be_compared(pages, query, status):
    assert pages.get(f"/compare?{query}").status_code == status


def test_the_cells_that_runs_measured_are_listed_and_searched(pages):
    cells = pages.get("/trends").context["cells"]
    assert len(cells) == 2
    assert {runs for *_, runs in cells} == {9}
    (cell,) = pages.get("/trends?text=GRPC").context["cells"]
    assert cell[1] == "grpc-thin"
    assert pages.get("/trends?text=grpc+nowhere").context["cells"] == []


@pytest.mark.parametrize("statistic", ["median", "p99", "throughput"])
def test_a_trend_has_a_line_for_each_run_newest_first_and_marks_the_step(pages, statistic):
    (shown,) = pages.get(f"/trends?cell=grpc-thin&statistic={statistic}").context["trends"]
    assert [point.run for point, *_ in shown["lines"]] == list(reversed(RUNS))
    assert shown["steps"] == 1
    assert [point.step.verdict for point, *_ in shown["lines"] if point.step] == ["regressed"]
    assert shown["trend"].statistic == statistic


def test_the_figure_has_the_values_of_the_table_and_a_line_at_the_step(pages):
    (shown,) = pages.get("/trends?cell=grpc-thin").context["trends"]
    document = json.loads(shown["figure"].document)
    (trace,) = document["data"]
    assert trace["text"] == list(RUNS)
    assert trace["y"] == pytest.approx([point.value * 1000 for point in shown["trend"].points])
    assert all(
        up >= 0 and down >= 0
        for up, down in zip(trace["error_y"]["array"], trace["error_y"]["arrayminus"], strict=True)
    )
    assert [shape["x0"] for shape in document["layout"]["shapes"]] == [4.5]
    assert document["layout"]["annotations"][0]["text"].startswith("regressed 1.4")
