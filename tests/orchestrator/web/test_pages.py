"""What the pages show of runs, whatever is in them, and what they make of addresses that name none."""

from __future__ import annotations

import html
import io
import re
import shutil
import zipfile
from dataclasses import replace

import pytest

from orchestrator.analysis.in_short import sentences
from orchestrator.analysis.summarise import summarise
from orchestrator.results.documents import write_json
from orchestrator.results.folder import RunFolder
from orchestrator.web.judged import Judged
from orchestrator.web.pages.run import tables
from tests.support.folders import begun, killed
from tests.support.past import base
from tests.support.web import BEARER, EVIL, RUNS, WITH_SAMPLES, client, form_token

ALL = (
    "/",
    f"/runs/{RUNS[1]}",
    f"/runs/{WITH_SAMPLES}",
    f"/compare?run={RUNS[1]}",
    f"/compare?run={RUNS[1]}&run={RUNS[0]}&run={RUNS[5]}",
    "/compare",
    "/trends",
    "/trends?cell=grpc",
    "/trends?cell=rest-thin&statistic=throughput",
    f"/runs/{RUNS[1]}/delete",
    "/api",
)


def text_of(answer) -> str:
    """What a reader reads, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


@pytest.mark.parametrize("path", ALL)
def test_every_page_opens_and_runs_nothing_of_a_runs_own(shared, path):
    for session in (False, True):
        answer = client(shared, session=session).get(path)
        assert answer.status_code == 200, answer.text
        assert "<script>" not in answer.text.replace("<script src=", "")
        assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", answer.text)
        assert re.findall(r"<script src=\"([^\"?]+)", answer.text) == ["/assets/page.js"]
        assert answer.text.count("<h1") == 1


def test_the_list_has_every_run_newest_first_and_hostile_names_as_text(shared):
    answer = client(shared).get("/")
    assert re.findall(r'name="run" value="([^"]+)"', answer.text) == [*reversed(RUNS), WITH_SAMPLES]
    assert html.escape(EVIL) in answer.text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("text=script", 3),
        ("text=GRPC", 6),
        ("text=grpc+nowhere", 0),
        ("text=%25", 6),  # a per cent sign is no pattern
        ("experiment=synthetic", 4),
        ("stack=grpc-thin", 6),
        ("verdict=valid", 6),
        ("verdict=not+judged", 1),
        ("since=2026-11-14", 2),
        ("until=2026-11-10&experiment=synthetic", 2),
        ("tag=none", 0),
        ("experiment=", 7),
    ],
)
def test_search_and_filters(shared, query, found):
    answer = client(shared).get(f"/?{query}")
    assert answer.text.count('name="run" value=') == found
    assert ("No run matches" in answer.text) == (found == 0)


def test_a_list_has_pages_and_one_beyond_them_is_the_last(shared, monkeypatch):
    asked = client(shared)
    listed = [asked.get(f"/api/runs?per_page=3&page={page}").json() for page in (1, 2, 3, 99)]
    assert [len(page["runs"]) for page in listed] == [3, 3, 1, 1]
    assert {page["of"] for page in listed} == {7}
    assert listed[3]["page"] == 3


@pytest.mark.parametrize("query", ["since=yesterday", "verdict=perfect", "page=0", "page=x", "text=" + "x" * 300])
def test_a_filter_that_cannot_be_is_said(shared, query):
    answer = client(shared).get(f"/?{query}")
    assert answer.status_code == 400
    assert "That cannot be answered" in answer.text


def test_no_runs_is_said_and_nothing_is_made(tmp_path):
    from orchestrator.workspace import Workspace

    assert "There is no run here" in client(Workspace(tmp_path)).get("/").text
    assert list(tmp_path.iterdir()) == []


def test_a_run_has_its_answer_its_percentiles_and_its_pictures(shared):
    answer = client(shared).get(f"/runs/{WITH_SAMPLES}")
    summary = base()[1]
    for sentence in sentences(summary):
        assert " ".join(sentence.split()) in text_of(answer).replace("\u00a0", " ")
    table = answer.text[answer.text.index('class="figures ') :]
    for head in ("p50", "p90", "p95", "p99", "p99.9"):
        assert f">{head}, µs<" in table
    for cell in summary.cells:
        assert f">{cell.distribution.median * 1000:.1f}<" in table
    assert answer.text.count("<svg") == 2
    assert "Synthetic 3000" in answer.text


def test_a_percentile_of_all_requests_and_an_interval_that_says_nothing_are_marked(shared):
    folder, summary = RunFolder.open(WITH_SAMPLES, root=shared.results), base()[1]
    first, *others = summary.cells
    told = replace(first, distribution=replace(first.distribution, pooled=("p95",)), median_interval=(0.1, 9.0))
    judged = Judged(folder=folder, summary=replace(summary, cells=(told, *others)), remarks=(), signature=())
    table = tables(judged)[0]
    line = next(line for line in table.lines if line.id == first.id)
    assert line.interval == "*"
    assert [text.endswith("†") for text in line.percentiles] == [False, False, True, False, False, False]
    assert [mark for mark, _ in table.marks] == ["†", "*"]
    assert tables(replace(judged, summary=summary, made={}))[0].marks == ()


def test_a_run_that_cannot_be_judged_says_why_and_keeps_its_notes(own):
    (own.results / RUNS[0] / "plan.json").write_text("{}")
    answer = client(own, session=True).get(f"/runs/{RUNS[0]}")
    assert answer.status_code == 200
    assert "plan.json" in answer.text
    assert "Add the note" in answer.text


@pytest.mark.parametrize("is_new", [False, True], ids=["judged by this page", "judged before"])
@pytest.mark.parametrize("way", ["altered", "removed"])
def test_figures_of_samples_that_changed_since_are_not_shown_as_they_were(own, is_new, way):
    folder = RunFolder.open(WITH_SAMPLES, root=own.results)
    for name, document in summarise(folder).documents().items():
        write_json(folder.path / name, document)
    asked = client(own)
    page = asked.get(f"/runs/{WITH_SAMPLES}").text
    assert 'class="figures ' in page
    first = next((folder.path / "samples").rglob("*.parquet"))
    if way == "altered":
        content = bytearray(first.read_bytes())
        content[len(content) // 2] ^= 1
        first.write_bytes(content)
    else:
        first.unlink()
    page = (client(own) if is_new else asked).get(f"/runs/{WITH_SAMPLES}").text
    assert 'class="figures ' not in page
    assert first.name in page


def test_a_run_without_its_samples_says_so(own):
    folder = RunFolder.open(WITH_SAMPLES, root=own.results)
    for name, document in summarise(folder).documents().items():
        write_json(folder.path / name, document)
    assert "Its samples are not here" not in client(own).get(f"/runs/{WITH_SAMPLES}").text
    for name in ("samples", "baselines"):
        shutil.rmtree(folder.path / name)
    assert "Its samples are not here" in client(own).get(f"/runs/{WITH_SAMPLES}").text


def test_runs_that_were_killed_or_only_begun_have_a_page(own):
    names = [begun(own.results).id, killed(own.results, at_s=1_795_229_900.0).id]
    asked = client(own)
    assert "interrupted" in asked.get("/").text
    for name in names:
        assert asked.get(f"/runs/{name}").status_code == 200
    assert f"<code>orch run --resume {names[1]}</code>" in asked.get(f"/runs/{names[1]}").text


NOWHERE = (
    "%2e%2e",
    "..%2f..%2fetc",
    "..%2Fresults%2F" + RUNS[0],
    "%2fetc%2fpasswd",
    "a%00b",
    ".hidden",
    "x" * 300,
    "nope",
    "..%5c..%5cetc",
    "%ff",
    "results",
    "latest%2f..",
    "\u202e",
)


@pytest.mark.parametrize("run", NOWHERE)
@pytest.mark.parametrize("below", ["", "/report", "/export?format=csv", "/delete"])
def test_an_address_that_names_no_run_is_answered_in_our_words(shared, run, below):
    for path in (f"/runs/{run}{below}", f"/api/runs/{run}"):
        answer = client(shared).get(path)
        assert answer.status_code in (404, 307), path
        if answer.status_code == 404:
            assert "Not here" in answer.text
            assert "Traceback" not in answer.text


def test_a_link_below_results_is_not_followed(own, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "run"
    (own.results / RUNS[0]).rename(elsewhere)
    (own.results / RUNS[0]).symlink_to(elsewhere)
    asked = client(own)
    assert asked.get(f"/runs/{RUNS[0]}").status_code == 404
    assert asked.get(f"/api/runs/{RUNS[0]}/cells").status_code == 404
    assert asked.delete(f"/api/runs/{RUNS[0]}?confirm={RUNS[0]}", headers=BEARER).status_code == 404
    assert elsewhere.is_dir()


def test_a_comparison_says_what_orch_compare_says(shared):
    from orchestrator.analysis.across import compare_runs
    from orchestrator.analysis.history import beside
    from orchestrator.report import rows
    from orchestrator.web.judged import stored_summary

    folders = [RunFolder(shared.results / name) for name in (RUNS[5], RUNS[0])]
    new, old = map(stored_summary, folders)
    history, passed_over = beside(new, old, *folders)
    comparison = compare_runs(new, old, "median", history, passed_over)
    page = text_of(client(shared).get(f"/compare?run={RUNS[5]}&run={RUNS[0]}"))
    assert comparison.rows
    for row in comparison.rows:
        assert f"{row.verdict} {rows.ratio(row)} {rows.interval(row, comparison.margin)}" in page


@pytest.mark.parametrize(
    "query",
    [
        "run=nope",
        f"run={RUNS[0]}&run={RUNS[0]}",
        "&".join(f"run={n}" for n in range(9)),
        f"run={RUNS[0]}&statistic=p50",
    ],
)
def test_runs_that_cannot_be_compared_are_said(shared, query):
    assert client(shared).get(f"/compare?{query}").status_code in (400, 404)


def test_a_trend_marks_where_a_cell_changed(shared):
    page = client(shared).get("/trends?cell=grpc-thin").text
    assert "1 change marked" in page
    assert page.index("changed</strong>, regressed") > 0
    assert "regressed 1.4" in page[page.index("<svg") : page.index("</svg>")]


def test_a_cell_that_no_run_measured_is_said(shared):
    assert client(shared).get("/trends?cell=nope").status_code == 404


def test_the_report_lives_in_a_sandbox_and_is_made_once(own):
    asked = client(own)
    answer = asked.get(f"/runs/{WITH_SAMPLES}/report")
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    (report,) = own.reports.glob("*.html")
    made = report.stat().st_mtime_ns
    again = asked.get(f"/runs/{WITH_SAMPLES}/report?download=1")
    assert again.headers["content-disposition"] == f'attachment; filename="{report.name}"'
    assert report.stat().st_mtime_ns == made
    assert again.content == report.read_bytes()


def test_a_report_of_a_run_whose_samples_are_gone_is_refused(shared):
    answer = client(shared).get(f"/runs/{RUNS[0]}/report")
    assert answer.status_code == 422
    assert "samples" in answer.text


@pytest.mark.parametrize(
    ("query", "begins"),
    [
        ("format=csv", b'"run",'),
        ("format=csv&raw=true", b'"run",'),
        ("format=json", b"{"),
        ("format=excel", b"PK"),
        ("format=html", b"<!"),
        ("format=markdown", b""),
        ("format=parquet", b"PAR1"),
    ],
)
def test_exports_are_downloads(shared, query, begins):
    answer = client(shared).get(f"/runs/{WITH_SAMPLES}/export?{query}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="{WITH_SAMPLES}')
    assert answer.content.removeprefix(b"\xef\xbb\xbf").lower().startswith(begins.lower())


def test_a_dataset_comes_as_one_zip_file(shared):
    answer = client(shared).get(f"/runs/{WITH_SAMPLES}/export?format=parquet&raw=true")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert any(name.endswith(".parquet") for name in archive.namelist())


def test_an_unknown_format_is_said(shared):
    answer = client(shared).get(f"/runs/{WITH_SAMPLES}/export?format=cvs")
    assert answer.status_code == 400
    assert "Did you mean csv" in answer.text


def test_notes_and_tags_come_and_go(own):
    asked = client(own, session=True)
    page = f"/runs/{RUNS[0]}"
    token = {"form_token": form_token(asked, page)}
    assert asked.post(f"{page}/notes", data={"text": EVIL, **token}).status_code == 303
    assert asked.post(f"{page}/tags", data={"add": "v1 v2", **token}).status_code == 303
    assert asked.get("/?tag=v2").text.count('name="run" value=') == 1
    assert html.escape(EVIL) in asked.get(page).text
    assert asked.post(f"{page}/tags", data={"remove": "v2", **token}).status_code == 303
    assert "No run matches" in asked.get("/?tag=v2").text
    for bad in ({"add": "<b>"}, {"add": ""}, {"remove": "v9"}):
        assert asked.post(f"{page}/tags", data={**bad, **token}).status_code == 400
    assert asked.post(f"{page}/notes", data={"text": "x" * 2001, **token}).status_code == 400
    for longest in ("\U0001f600" * 2000, "x\r\n" * 999 + "xx"):  # a browser sends line ends so
        assert asked.post(f"{page}/notes", data={"text": longest, **token}).status_code == 303


def test_a_run_is_deleted_once_its_id_was_typed(own):
    asked = client(own, session=True)
    page = f"/runs/{RUNS[0]}/delete"
    token = {"form_token": form_token(asked, page)}
    assert asked.post(page, data={"confirm": "yes", **token}).status_code == 400
    assert (own.results / RUNS[0]).is_dir()
    assert asked.post(page, data={"confirm": RUNS[0], **token}).headers["location"] == "/"
    assert not (own.results / RUNS[0]).exists()
    assert RUNS[0] not in asked.get("/").text
    assert asked.get(f"/runs/{RUNS[0]}").status_code == 404


def test_a_run_in_progress_leads_to_its_live_view_and_is_not_deleted(own):
    folder = RunFolder(own.results / RUNS[0])
    folder.hold()
    try:
        answer = client(own).delete(f"/api/runs/{RUNS[0]}?confirm={RUNS[0]}", headers=BEARER)
        assert answer.status_code == 409
        assert (own.results / RUNS[0]).is_dir()
    finally:
        folder.release()
