"""`orch gate` as a job of continuous integration calls it: its ways, its files and its exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.experiments import gating
from orchestrator.cli.here import WORKSPACE
from orchestrator.errors import InvalidMeasurement, Regression, Undecided, UsageError
from orchestrator.gate.procedure import Gate
from orchestrator.gate.verdict import GateResult
from tests.support.compared import xml
from tests.support.gates import a_call, a_gate, a_row, repository

PASSED, OPEN = a_gate(a_call(a_row("not slower"))), a_gate(a_call(a_row("undecided")))
FAILED = a_gate(a_call(a_row("slower")))
DOUBTED = a_gate(a_call(a_row("slower"), failed_checks=("reply",)))


@pytest.fixture(autouse=True)
def file(out: io.StringIO, tmp_path: Path) -> Path:
    return repository(tmp_path)


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Any:
    def to(result: GateResult) -> None:
        monkeypatch.setattr(Gate, "prepare", lambda _: None)
        monkeypatch.setattr(Gate, "measure", lambda _: result)

    return to


@pytest.mark.parametrize(
    "ways",
    [
        {},
        {"base": "HEAD", "base_folder": Path()},
        {"head_folder": Path()},
        {"head": "HEAD", "base_folder": Path(), "head_folder": Path()},
        {"base": "HEAD", "limit": ["5"]},
        {"base": "HEAD", "limit": ["other=5%"]},
        {"base": "HEAD", "budget": "soon"},
    ],
)
def test_a_call_that_says_too_little_too_much_or_no_number_is_refused(file: Path, ways: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        gating.gate(file, **ways)


@pytest.mark.parametrize(
    ("result", "undecided", "error", "tags"),
    [
        (PASSED, "fail", None, {"system-out"}),
        (FAILED, "pass", Regression, {"failure"}),
        (OPEN, "fail", Undecided, {"error"}),
        (OPEN, "pass", None, {"skipped"}),
        (DOUBTED, "fail", InvalidMeasurement, {"failure"}),
    ],
)
def test_files_and_exit_code_say_the_same(
    file: Path, measuring: Any, result: GateResult, undecided: Any, error: type[Exception] | None, tags: set[str]
) -> None:
    measuring(result)
    junit, markdown = Path("junit.xml"), Path("comment.md")
    call = {"base": "HEAD", "undecided": undecided, "junit": junit, "markdown": markdown, "record": True}
    if error is None:
        gating.gate(file, **call)
    else:
        with pytest.raises(error):
            gating.gate(file, **call)
    assert {child.tag for case in xml(junit.read_text()).iter("testcase") for child in case} == tags
    assert markdown.read_text().startswith("<!-- orch gate shop -->\n")
    (line,) = WORKSPACE.gates.read_text().splitlines()
    assert json.loads(line)["verdict"] == result.verdict


def test_stdout_holds_one_document_under_json(file: Path, out: io.StringIO, measuring: Any) -> None:
    measuring(FAILED)
    with pytest.raises(Regression):
        gating.gate(file, base="HEAD", as_json=True)
    assert json.loads(out.getvalue())["verdict"] == "slower"


def test_a_plan_is_shown_and_nothing_is_measured(file: Path, out: io.StringIO) -> None:
    gating.gate(file, base_folder=file.parent, head_folder=file.parent, only_plan=True)
    assert out.getvalue().startswith("order: a limit of 5 % takes ")
    assert not WORKSPACE.results.exists()
