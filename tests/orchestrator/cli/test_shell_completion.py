"""What a shell offers while somebody types: verbs, runs, and no name that it evaluates."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
ONE, TWO = "20261121-040000-one-aaaa", "20261122-040000-two-bbbb"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with runs, and things that are none."""
    monkeypatch.chdir(tmp_path)
    for name in (ONE, TWO, "$(touch hit)", 'x";touch hit;"'):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "journal.jsonl").touch()
    (tmp_path / "results" / "not-a-run").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["comp"], ["compare"]),
        (["compare", ""], ["latest", TWO, ONE]),
        (["compare", "20261121"], [ONE]),
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
