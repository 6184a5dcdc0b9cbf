"""A word that is unknown is answered with the nearest known one, whatever its case, wherever words are read."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.results.folder import RunFolder
from tests.support.called import orch

GOOD = {"stacks": "[rest, grpc]", "operations": "add", "load": "{requests: 50}"}


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


@pytest.mark.parametrize(
    ("changed", "meant"),
    [
        ({"stacks": "[REST]"}, "Did you mean rest?"),
        ({"stacks": "[{protocol: GRPC}]"}, "Did you mean grpc?"),
        ({"stacks": "[{protocol: rest, responder: Flask}]"}, "Did you mean flask?"),
        ({"stacks": "[{protocol: rest, client: HTTPX}]"}, "Did you mean httpx?"),
        ({"operations": "[{ECHO: {bytes: 10}}]"}, "Did you mean echo?"),
        ({"load": "{Requests: 50}"}, "Did you mean requests?"),
        ({"connection": "REUSE"}, "Did you mean reuse?"),
        ({"Repeats": "3"}, "Did you mean repeats?"),
        ({"provider": "LOCAL"}, "Did you mean local?"),
    ],
)
def test_words_of_an_experiment(tmp_path: Path, changed, meant):
    file = tmp_path / "x.yaml"
    file.write_text("name: x\nquestion: Why?\n" + "".join(f"{key}: {text}\n" for key, text in (GOOD | changed).items()))
    with pytest.raises(ExperimentError) as refused:
        make_plan(file, needs_programs=False)
    assert meant in " ".join(refused.value.lines)


@pytest.mark.parametrize(
    ("override", "meant"),
    [
        ("stacks.0=REST", "Did you mean rest?"),
        ("stacks=rest,grpc", "Write several in brackets: [rest, grpc]."),
        ("LOAD.requests=3", "Did you mean load?"),
        ("tls=TLS1.3", "tls1.3"),
    ],
)
def test_words_of_an_override(tmp_path: Path, override, meant):
    file = tmp_path / "x.yaml"
    file.write_text("name: x\nquestion: Why?\n" + "".join(f"{key}: {text}\n" for key, text in GOOD.items()))
    with pytest.raises(ExperimentError) as refused:
        make_plan(file, [override], needs_programs=False)
    assert meant in " ".join(refused.value.lines)


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
