"""What verbs lay out in the terminal: the short answer of a run, the findings of an audit."""

from __future__ import annotations

import json
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
from tests.support.concluded import setting, summary
from tests.support.pages import Document
from tests.support.runs import a_run


def test_many_settings_are_cut_and_counted() -> None:
    ways = ("none", "gzip", "zstd")
    run = summary(
        *(setting({"rest": 0.3, "grpc": 0.2}, compression=way, tls=tls) for way in ways for tls in ("none", "tls1.3"))
    )
    lines = list(short_lines(run))
    shown = sum("server ← client" in line for line in lines)
    assert shown < len(answer(run).tables) == 6
    assert f"... and {6 - shown} more tables" in lines


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
