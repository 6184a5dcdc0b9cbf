"""What verbs lay out in the terminal: the short answer of a run, the findings of an audit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from orchestrator.cli.answer import short_lines
from orchestrator.cli.results import audit
from orchestrator.errors import UsageError
from orchestrator.findings.summary import RunSummary
from orchestrator.report import render
from orchestrator.summarise import summarise, summary_of
from orchestrator.wording.answer import answer
from tests.support.concluded import check, setting, summary
from tests.support.pages import Document
from tests.support.runs import a_run


def rows(run: RunSummary) -> dict[str, list[str]]:
    """The words of each stack's row of the only table."""
    (table,) = answer(run).tables
    return {row.label: [entry.text for entry in row.entries] for row in table.rows if row.kind == "stack"}


def test_a_table_has_ends_median_difference_interval_and_p99() -> None:
    shown = rows(summary(setting({"rest": 0.3, "grpc": 0.2})))
    assert list(shown) == ["grpc", "rest"]
    assert shown["rest"][1:4] == ["300.0", "reference", "-"]
    assert shown["grpc"][1:4] == ["200.0", "\u221233 %", "\u221235 to \u221232 %"]


def test_a_cell_that_failed_is_marked_and_has_no_difference() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    run = replace(run, checks=(check("reply", run.cells[1].id),))
    (table,) = answer(run).tables
    (row,) = [row for row in table.rows if row.label == "grpc"]
    assert row.detail == "invalid: reply failed"
    assert row.entries[2].text == "-"


def test_many_settings_are_cut_and_counted() -> None:
    ways = ("none", "gzip", "zstd")
    run = summary(
        *(setting({"rest": 0.3, "grpc": 0.2}, compression=way, tls=tls) for way in ways for tls in ("none", "tls1.3"))
    )
    lines = list(short_lines(run))
    shown = sum("server ← client" in line for line in lines)
    assert shown < len(answer(run).tables) == 6
    assert f"... and {6 - shown} more tables" in lines


def test_a_run_along_an_axis_has_a_table_for_its_operation() -> None:
    run = summary(*(setting({"rest": 0.3, "grpc": 0.2}, concurrency=n) for n in (1, 2, 4, 8)))
    assert rows(run) == {"rest": ["300"] * 4, "grpc": ["200"] * 4}


@pytest.fixture(scope="module")
def measured() -> RunSummary:
    return summarise(a_run())


def test_report_terminal_and_json_say_the_same(measured: RunSummary) -> None:
    shown = Document(render(measured)).text.replace("\u00a0", " ")
    lines = " ".join(short_lines(measured, width=10_000))
    for line in answer(measured).lines:
        assert line.text.replace("`", "") in shown
        assert line.text in lines
    assert answer(summary_of(json.loads(measured.to_json()))) == answer(measured)


AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


@pytest.fixture(autouse=True)
def out(out, monkeypatch):
    """Standard output on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return out


def test_the_document_has_what_scripts_need(out):
    audit.audit(AUDITS / "grpc-rest-database.yaml", as_json=True)
    document = json.loads(out.getvalue())
    assert document["schema_version"] == 2
    assert all({"claim", "verdict", "rule", "arithmetic"} <= claim.keys() for claim in document["claims"])
    verdicts = {claim["verdict"] for claim in document["claims"]}
    assert verdicts <= {"supported", "contradicted", "impossible", "undetermined"}


def test_the_exit_code_tells_whether_something_is_contradicted():
    audit.audit(AUDITS / "keep-alive.yaml", exit_code=True)
    audit.audit(AUDITS / "six-protocols-article.yaml")
    with pytest.raises(typer.Exit) as exit_:
        audit.audit(AUDITS / "six-protocols-article.yaml", exit_code=True)
    assert exit_.value.exit_code == 1


def test_a_file_is_needed():
    with pytest.raises(UsageError, match="name a file"):
        audit.audit()


HOSTILE = "\\e[2J\\e]0;owned\\a\\u202egnp\\x9b31m"


def test_control_sequences_in_a_file_are_refused_where_they_stand(tmp_path):
    file = tmp_path / "hostile.yaml"
    row = f'{{name: "{HOSTILE}", mean: 5, max: 1, missing: "{HOSTILE}"}}'
    file.write_text(f'title: "{HOSTILE}"\nresults: [{row}]\nclaims: [{{text: "{HOSTILE}"}}]\n')
    with pytest.raises(UsageError, match=r"(?s)1:8: .* U\+001B.*2:18: .*2:81: .*3:17: ") as error:
        audit.audit(file, figures=True)
    assert [c for c in error.value.message if not c.isprintable() and c != "\n"] == []
