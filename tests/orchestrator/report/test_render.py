from __future__ import annotations

import re
from dataclasses import replace

import pytest

from orchestrator.findings.check_result import Point
from orchestrator.findings.condition import Condition
from orchestrator.findings.summary import Details
from orchestrator.report import render
from orchestrator.report.groups import groups
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.checks.sentences import action, explanation
from tests.support.findings import counted, having, labelled, measured
from tests.support.pages import Document
from tests.support.summaries import a_run, failed_run

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">{{ 7*7 }}</title></style><a href="http://e.example">'


@pytest.fixture(scope="module")
def run():
    return a_run(placements=2, operations=2)


@pytest.fixture(scope="module")
def page(run):
    return render(run)


@pytest.fixture(scope="module")
def document(page):
    return Document(page)


@pytest.fixture(scope="module")
def of_failed():
    """The page of a run in which a check and trials failed."""
    return Document(render(failed_run()))


@pytest.fixture(scope="module")
def half_right():
    """A run with wrong replies, and its page."""
    run = some_failed()
    return run, Document(render(run))


def test_every_element_is_closed(document):
    assert document.unclosed == []


def test_parts_stand_in_the_order_in_which_a_reader_asks(document):
    ids = [element.attributes.get("id") for element in document.all("section")]

    first = ["main-picture", "figures", "distribution", "timings"]
    parts = [*first, "checks", "conditions", "method", "repeat"]
    assert [id_ for id_ in ids if id_ in parts] == parts


def test_links_lead_to_places_within_the_page(document):
    ids = {element.attributes["id"] for element in document.elements if "id" in element.attributes}
    links = {element.attributes["href"] for element in document.all("a")}

    assert {link.removeprefix("#") for link in links} <= ids


def test_ids_are_unique(document):
    ids = [element.attributes["id"] for element in document.elements if "id" in element.attributes]

    assert len(ids) == len(set(ids))


def test_nothing_is_fetched(page, document):
    addresses = [
        value
        for element in document.elements
        for name, value in element.attributes.items()
        if name in {"src", "href", "srcset", "action", "poster", "data", "xlink:href"}
    ]
    style = re.search(r"<style>(.*?)</style>", page, re.S)

    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    policy = next(e.attributes["content"] for e in document.all("meta") if "http-equiv" in e.attributes)
    assert policy.startswith("default-src 'none';")
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_tables_hold_the_summarys_own_numbers(run, document):
    tables = [table for table in document.tables if table.caption.startswith("all figures")]
    for group, table in zip(groups(run), tables, strict=True):
        for cell in group.cells:
            row = table.row(cell.labels.stack)
            of = cell.distribution
            assert of is not None
            names = {
                "min": of.minimum,
                "mean": of.mean,
                "median": of.median,
                "p90": of.p90,
                "p95": of.p95,
                "p99": of.p99,
            }
            names |= {"p99.9": of.p999, "max": of.maximum, "SD": of.sd, "IQR": of.iqr}
            assert {name: row[name].values for name in names} == {
                name: [] if value is None else [value] for name, value in names.items()
            }
            assert (row["n"].text, row["errors"].text) == (f"{of.n:,}", "0")


def test_what_is_read_is_the_value_in_the_unit_that_the_caption_states(document):
    tables = [table for table in document.tables if table.caption.startswith("all figures")]
    units = [table.caption.rpartition(", ")[2] for table in tables]
    assert set(units) == {"µs", "ms"}
    for table, unit in zip(tables, units, strict=True):
        for row in table.rows[1:]:
            median = row[[cell.text for cell in table.rows[0]].index("median")]
            for shown, value in zip(median.shown, median.values, strict=True):
                in_unit = float(shown.replace(",", "")) / {"µs": 1000, "ms": 1}[unit]
                assert in_unit == pytest.approx(value, abs=0.5 * 10**-1)


def test_floors_stand_among_the_stacks(run, document):
    (tcp,) = (row for row in document.full.rows if row[0].text.startswith("tcp floor"))
    assert run.floors[1].distribution.median in [value for cell in tcp for value in cell.values]


def test_tables_can_be_read_aloud(document):
    assert all(table.caption for table in document.tables)
    assert all(element.attributes.get("scope") in {"col", "row", "rowgroup"} for element in document.all("th"))
    charts = [element for element in document.elements if element.attributes.get("class") == "chart"]
    assert charts
    pictures = [element for element in document.elements if element.attributes.get("class") == "live"]
    assert len(pictures) == len(charts)
    assert all(picture.attributes["role"] == "img" and picture.attributes["aria-label"] for picture in pictures)


def test_every_group_has_every_chart(run, document):
    kinds = {slug.rsplit("-g", 1)[0] for slug in document.figures()}

    assert kinds == {"sweep-1", "sweep-2", "percentiles", "strip"}
    strips = [slug for slug in document.figures() if slug.startswith("strip-")]
    assert len(strips) == len(run.cells)


def test_charts_name_no_colour_that_a_theme_could_not_change(document):
    for figure in document.figures().values():
        text = str(figure)
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", text)
        assert not re.search(r"'(black|white)'", text)


def test_the_same_summary_gives_the_same_bytes(run, page):
    assert render(run) == page


def test_a_failed_check_is_said_before_the_verdict_and_behind_everything():
    run = failed_run()
    of_run = replace(next(check for check in run.checks if check.verdict == "fail"), cell=None)
    document = Document(render(replace(run, checks=(of_run,))))

    assert document.text.index("1 check failed") < document.text.index("No result")
    assert any(element.attributes.get("class") == "watermark" for element in document.elements)


def test_a_check_that_failed_in_one_cell_leaves_the_others_alone(of_failed):
    document = of_failed

    assert "1 check failed in 1 cell" in document.text
    assert not any(element.attributes.get("class") == "watermark" for element in document.elements)


def some_failed():
    """A run of which one stack got no right reply to one request in fifty, within a time-out of 2 s."""
    run = a_run(stacks=3)
    cell = run.cells[1]
    of = cell.distribution
    failed = round(of.n / 50)
    censored = replace(
        of,
        mean=None,
        sd=None,
        cv=None,
        p99=None,
        p999=None,
        maximum=None,
        p99_to_p50=None,
        failed=failed,
        limit=2000.0,
        censored=("p99", "maximum"),
        curve=tuple((share * of.n / (of.n + failed), ms) for share, ms in of.curve),
    )
    silent = replace(cell.trials[0], n=0, errors=1000, median=None, p99=None, mean=None, minimum=None)
    cell = replace(
        cell,
        distribution=censored,
        details=replace(cell.details, replies=replace(of, curve=())),
        counts=replace(cell.counts, errors={"timeout": failed}, requests=of.n + failed),
        trials=(replace(silent, censored=("median", "p99")), *cell.trials[1:]),
    )
    p99 = replace(
        run.comparisons[0],
        statistic="p99",
        ratio=None,
        interval=None,
        p_value=None,
        by_block=(),
        blocks=(),
        standing="cannot tell",
        reason=Reason(kind=ReasonKind.CENSORED, cells=(cell.id,), numbers={"blocks": 1, "of": 5}),
    )
    return replace(run, cells=(run.cells[0], cell, run.cells[2]), comparisons=(*run.comparisons, p99))


def test_a_percentile_among_failures_is_beyond_the_time_out_and_never_a_number(half_right):
    run, document = half_right
    (of_all,) = (row for row in document.full.rows if row[0].text.startswith(run.cells[1].labels.stack))
    row = dict(zip([cell.text for cell in document.full.rows[0]], of_all, strict=True))

    assert document.unclosed == []
    assert (row["p99"].text, row["max"].text) == ("> 2 s", "> 2 s")
    assert row["p99"].values == row["max"].values == row["mean"].values == row["SD"].values == []
    assert row["median"].values == [run.cells[1].distribution.median]
    assert row["errors"].text == "100, timeout 100"


def test_a_comparison_of_what_has_no_number_says_why(half_right):
    _, document = half_right
    text = " ".join(document.text.split())

    assert "too many requests failed with rest (fastapi): 1 of 5 blocks have no value" in text
    assert "A request without a right reply counts as slower than every reply" in text


def test_a_curve_with_failures_ends_before_the_other(half_right):
    run, document = half_right
    figure = document.figures()["percentiles-g1"]
    ends = {trace["name"]: trace["x"][-1] for trace in figure["data"]}
    assert ends[run.cells[1].labels.stack] < ends[run.cells[0].labels.stack]


def test_a_run_without_failures_has_no_watermark(document):
    assert not any(element.attributes.get("class") == "watermark" for element in document.elements)
    assert "Failed trials" not in document.text


def test_checks_say_what_was_found_and_what_to_do_and_the_worst_comes_first(of_failed):
    run, document = failed_run(), of_failed
    ids = [e.attributes["id"] for e in document.all("details") if e.attributes.get("id", "").startswith("check-")]

    assert ids == ["check-floor", "check-noise", "check-round-trips", "check-in-flight"]
    for check in run.checks:
        assert explanation(check) in document.text
        assert check.verdict == "pass" or action(check) in document.text
        assert all(key.replace("_", " ") in document.text for key in check.evidence)


def test_a_trial_that_failed_has_its_stage_and_kind_and_no_text_of_a_process(of_failed):
    assert "responder-hung in the stage start" in of_failed.text
    assert "Address already in use" not in of_failed.text


def test_a_stack_that_never_answered_keeps_its_row(of_failed):
    row = of_failed.full.row("rest (flask, requests)")

    assert row["errors"].text.startswith("13, ")
    assert "timeout 12" in row["errors"].text


def test_texts_of_an_experiment_cannot_become_markup():
    run = a_run(stacks=2)
    cells = tuple(
        labelled(counted(having(cell, client=HOSTILE), errors={HOSTILE: 1}), stack=HOSTILE + cell.id, operation=HOSTILE)
        for cell in run.cells
    )
    some = Point(kind="in-some-trials", values={"trials": HOSTILE, "of_trials": 1})
    check = replace(run.checks[0], name=HOSTILE, evidence={HOSTILE: HOSTILE}, points=(some,), verdict="fail")
    rows = tuple(replace(row, stack_label=HOSTILE, reference_label=HOSTILE) for row in run.comparisons)
    hostile = replace(
        measured(
            run,
            name=HOSTILE,
            question=HOSTILE,
            warnings=(HOSTILE,),
            repeat_command=HOSTILE,
            failed_trials=(
                {
                    "cell": HOSTILE,
                    "block": 0,
                    "failure": dict.fromkeys(("stage", "kind", "message", "last_words"), HOSTILE),
                },
            ),
        ),
        cells=cells,
        comparisons=rows,
        checks=(check,),
        conditions=(Condition("Placement", HOSTILE, HOSTILE),),
        settings={HOSTILE: {HOSTILE: HOSTILE}},
    )

    document = Document(render(hostile))

    assert document.unclosed == []
    assert len([kind for kind, _ in document.scripts if "type" not in kind]) == 1
    assert document.all("img") == []
    assert not any("e.example" in element.attributes.get("href", "") for element in document.elements)
    assert "{{ 7*7 }}" in document.text
    for figure in document.figures().values():
        assert "<script" not in str(figure)
        assert "<img" not in str(figure)
        assert "<a" not in str(figure)


@pytest.mark.parametrize("stacks", [1, 2])
def test_a_run_with_little_in_it_still_makes_a_page(stacks):
    run = a_run(stacks=2)
    cells = tuple(replace(cell, distribution=None, details=Details()) for cell in run.cells[:stacks])
    bare = replace(
        measured(run, warnings=(), state="interrupted", ended_at=None, manifest_sha256=""),
        cells=cells,
        floors=(),
        comparisons=(),
        checks=(),
        settings={},
        conditions=(),
    )

    document = Document(render(bare))

    assert "too few requests got a right reply" in document.text
    assert "interrupted" in document.text
    assert "none were run" in document.text
    assert document.figures() == {}


def test_the_method_says_when_the_clock_stopped_by_the_rule_of_the_runs_own_time():
    run = a_run(stacks=2)
    now = replace(run, settings={"grpc": {"fields": "every one read once, on both ends, within the call"}})
    before = replace(run, settings={"grpc": {"client_style": "sync"}})
    text = Document(render(before)).text
    assert "every field of the reply has been read" in Document(render(now)).text
    assert "its fields not yet read" in text
    assert "every field of the reply has been read" not in text
