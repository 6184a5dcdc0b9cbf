"""What a shell offers while somebody types: verbs, runs, experiments, and no name that it evaluates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli import shared_options
from orchestrator.cli.runs import listing
from tests.support.past import a_past_run

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
ONE, TWO = "20261121-040000-one-aaaa", "20261122-040000-two-bbbb"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with runs and experiments, and things that are neither."""
    monkeypatch.chdir(tmp_path)
    for name in (ONE, TWO, "$(touch hit)", 'x";touch hit;"'):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "journal.jsonl").touch()
    (tmp_path / "results" / "not-a-run").mkdir()
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "mine.txt").touch()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "other.yml").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["comp"], ["compare"]),
        (["compare", ""], ["latest", TWO, ONE]),
        (["compare", "20261121"], [ONE]),
        (["plan", "m"], ["mine.yaml"]),
        (["run", "experiments/"], ["experiments/other.yml"]),
        (["run", "--resume", "20261122"], [TWO]),
        (["export", "latest", "--format", "m"], ["markdown"]),
        (["doctor", "--for", "l"], ["local", "lab"]),
    ],
)
def test_a_word_goes_on_as_what_is_here_does(words: list[str], offered: list[str]) -> None:
    asking = {
        "_ORCH_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(["orch", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(ORCH, env={**os.environ, **asking}, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.split(), done.stderr) == (offered, "")


def test_what_was_measured_is_offered_where_runs_are_chosen(folder: Path) -> None:
    a_past_run(folder / "results" / "past", experiment="mine")
    listing.list_runs(limit=30)  # which writes the index
    assert shared_options.complete_measured("experiment")() == ["mine"]
    assert "grpc-thin" in shared_options.complete_measured("stack")(), "its label has spaces, and is left out"
    assert shared_options.complete_cells("grpc-thin_")[0].startswith("grpc-thin__")
