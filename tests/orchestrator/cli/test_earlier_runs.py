"""Experiments that `orch init` writes, and earlier runs that a plan learns from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.experiments import plan_text
from orchestrator.cli.experiments.start import init, starter
from orchestrator.clock import Clock
from orchestrator.errors import UsageError
from orchestrator.experiment.examples import FOLDER
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_plan


def test_runs_of_the_same_experiment_are_found_behind_many_others(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_text, "read_summaries", lambda runs: [run.id for run in runs])

    def made(name, day):
        plan = replace(a_plan(), name=name)
        now = Clock(wall_ns=lambda: day * 86_400 * 10**9, monotonic_s=lambda: 0.0)
        folder = RunFolder.create(plan, command=(), root=tmp_path, now=now)
        folder.release()
        return folder.id

    mine = [made("mine", day) for day in (1, 2)]
    longer = [made("mine_too", 3)]
    others = [made("other", day) for day in range(4, 12)]
    summaries = plan_text.earlier_summaries(tmp_path, "mine")
    assert summaries == [*reversed(others[-5:]), *reversed(mine)]
    assert longer[0] not in summaries


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_schema(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").touch()


def named(file: str) -> str | None:
    """The schema that the file's first line names."""
    first = starter(Path(file)).partition("\n")[0]
    return first.partition("$schema=")[2] or None


def test_the_schema_is_named_where_it_is_and_nowhere_else():
    without = starter(Path("mine.yaml"))
    assert without.startswith("# An experiment: one question")
    assert "schema" not in without
    assert "\nname: mine\n" in without
    put_schema(Path("experiments"))
    assert starter(Path("mine.yaml")) == (f"# yaml-language-server: $schema=experiments/schema.json\n#\n{without}")


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("experiments/first.yaml", "schema.json"),
        ("experiments/more/first.yaml", "../schema.json"),
        ("elsewhere/first.yaml", "../experiments/schema.json"),
    ],
)
def test_the_schema_that_is_named_lies_there_as_seen_from_the_file(file, schema):
    put_schema(Path("experiments"))
    assert named(file) == schema
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    assert (Path(file).parent / schema).is_file()


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.yaml"))])
def test_a_shipped_experiment_can_be_copied_and_is_valid_under_its_new_name(name):
    init(Path("questions/Mine.yaml"), example=name)
    assert make_plan(Path("questions/Mine.yaml")).name == "mine"


def test_an_unknown_example_is_refused_with_the_nearest():
    with pytest.raises(UsageError) as refused:
        init(Path("mine.yaml"), example="quickstrt")
    assert "quickstart" in (refused.value.hint or "")
    assert not Path("mine.yaml").exists()
