"""What a shell offers, and how an unknown word is answered."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from tests.support.called import orch

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
    [(["comp"], ["compare"]), (["compare", ""], ["latest", TWO, ONE]), (["compare", "20261121"], [ONE])],
)
def test_a_word_goes_on_as_what_is_here_does(words: list[str], offered: list[str]) -> None:
    asking = {
        "_ORCH_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(["orch", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(ORCH, env={**os.environ, **asking}, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["PLAN"], "Did you mean plan?"),
        (["Compair"], "Did you mean compare?"),
        (["doctor", "--for", "LAB"], "Did you mean lab?"),
        (["setup", "build", "GO"], "Did you mean go?"),
    ],
)
def test_words_of_a_call(tmp_path: Path, words, meant):
    done = orch(*words, cwd=tmp_path)
    assert (done.returncode, meant in done.stderr) == (2, True), done.stderr


def test_the_id_of_a_run(tmp_path: Path):
    name = "20261121-040000-quickstart-aaaa"
    (tmp_path / name).mkdir()
    (tmp_path / name / "journal.jsonl").touch()
    with pytest.raises(UsageError) as refused:
        RunFolder.open("20261121-040000-QuickStart", root=tmp_path)
    assert refused.value.hint == f"Did you mean {name}?"


def test_every_verb_of_the_table_is_there_with_its_help():
    """Each name leads to a function with a docstring; a word of a group is found from the top."""
    for group, verbs in (("", VERBS), *((name, verb.verbs) for name, verb in VERBS.items() if verb.verbs)):
        for name, verb in verbs.items():
            if verb.verbs is None:
                module, function = verb.place.split(":")
                assert getattr(import_module(f"orchestrator.cli.{module}"), function).__doc__, (group, name)
    assert next(iter(VERBS)) == "run"


def test_a_verb_of_a_group_is_named_where_it_is_called_from_the_top(tmp_path):
    assert "Did you mean orch runs check?" in orch("check", cwd=tmp_path).stderr
