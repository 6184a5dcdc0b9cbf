"""What a shell offers, and how an unknown word is answered."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from tests.support.called import orch

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]


def test_a_shell_completes_a_verb() -> None:
    words = {"_ORCH_COMPLETE": "complete_bash", "COMP_WORDS": "orch\ncomp", "COMP_CWORD": "1"}
    done = subprocess.run(ORCH, env={**os.environ, **words}, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["compare"], "")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["PLAN"], "Did you mean plan?"),
        (["check"], "Did you mean orch runs check?"),
        (["doctor", "--for", "LAB"], "Did you mean lab?"),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(tmp_path: Path, words: list[str], meant: str) -> None:
    done = orch(*words, cwd=tmp_path)
    assert (done.returncode, meant in done.stderr) == (2, True), done.stderr


def test_every_verb_of_the_table_is_a_function_with_its_help() -> None:
    for group, verbs in (("", VERBS), *((name, verb.verbs) for name, verb in VERBS.items() if verb.verbs)):
        for name, verb in verbs.items():
            if verb.verbs is None:
                module, function = verb.place.split(":")
                assert getattr(import_module(f"orchestrator.cli.{module}"), function).__doc__, (group, name)
