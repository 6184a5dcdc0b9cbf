"""`orch run --referee` before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator import errors
from orchestrator.cli.experiments import running
from orchestrator.referee.generators import GHZ, OHA, TOOLS, WRK, Found, Tool
from orchestrator.results.manifest import RefereeRecord

REST = "name: x\nquestion: Which?\nstacks: [rest, grpc]\noperations: add\nrepeats: 1\n"


def here(*tools: Tool) -> list[Found]:
    return [
        Found(tool=tool, path=f"/tools/{tool.name}", version=tool.least, sha256="f" * 64)
        if tool in tools
        else Found(tool=tool, why=f"there is no {tool.name} in build/referee or on the PATH")
        for tool in TOOLS.values()
    ]


class _Started(Exception):
    """Nothing is measured here."""


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Any:
    def has(*tools: Tool) -> None:
        monkeypatch.setattr("orchestrator.hosts.load_generators.look_for_all", lambda: here(*tools))

    return has


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Of an experiment, who would ask which cell."""
    monkeypatch.chdir(tmp_path)
    referees: list[RefereeRecord] = []

    def start(*_: Any, referee: RefereeRecord, **__: Any) -> None:
        referees.append(referee)
        raise _Started

    monkeypatch.setattr("orchestrator.measure.run.start", start)

    def settings(text: str = REST, referee: str = "any", **options: Any) -> RefereeRecord:
        (tmp_path / "x.yaml").write_text(text)
        with pytest.raises(_Started):
            running.run("x.yaml", referee=referee, **options)
        return referees[-1]

    return settings


def by_protocol(of: dict[str, str]) -> dict[str, str]:
    return {cell.partition("-")[0]: value for cell, value in of.items()}


def test_each_cell_is_asked_by_the_best_that_is_here(settings: Any, has: Any) -> None:
    has(WRK, OHA, GHZ)
    referee = settings()
    assert by_protocol(referee.cells) == {"rest": "wrk", "grpc": "ghz"}
    assert {name: tool.within for name, tool in referee.tools.items()} == {"wrk": 0.35, "ghz": 0.5}
    has(OHA)
    referee = settings()
    assert (by_protocol(referee.cells), referee.tools["oha"].within) == ({"rest": "oha"}, 0.35)
    assert by_protocol(referee.refused) == {"grpc": "there is no ghz in build/referee or on the PATH"}


def test_one_can_be_chosen(settings: Any, has: Any) -> None:
    has(WRK, OHA, GHZ)
    referee = settings(referee="oha")
    assert by_protocol(referee.cells) == {"rest": "oha"}
    assert by_protocol(referee.refused) == {"grpc": "oha cannot measure it (ghz can)"}


def test_without_a_program_that_could_ask_it_says_how_to_get_one(settings: Any, has: Any, tmp_path: Path) -> None:
    has()
    (tmp_path / "x.yaml").write_text(REST)
    with pytest.raises(errors.MissingError, match="there is no wrk") as missing:
        running.run("x.yaml", referee="any")
    assert "make referee" in (missing.value.hint or "")
    assert not (tmp_path / "results").exists()


def test_an_experiment_that_none_can_ask_is_refused_with_the_reason(settings: Any, has: Any, tmp_path: Path) -> None:
    has(WRK, OHA, GHZ)
    (tmp_path / "x.yaml").write_text(REST + "load: {rate: 50/s, duration: 1s}\n")
    with pytest.raises(
        errors.UsageError, match=r"no cell of x can be measured by an independent load generator: .*closed loops"
    ):
        running.run("x.yaml", referee="any")
    assert not (tmp_path / "results").exists()


def test_an_unknown_load_generator_is_refused(settings: Any, has: Any, tmp_path: Path) -> None:
    has(WRK)
    (tmp_path / "x.yaml").write_text(REST)
    with pytest.raises(errors.UsageError, match="no load generator is called 'ab'"):
        running.run("x.yaml", referee="ab")
