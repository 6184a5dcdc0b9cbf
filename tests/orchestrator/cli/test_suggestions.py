"""A word that is unknown is answered with the nearest known one, whatever its case, wherever words are read."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from tests.support.called import orch


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
