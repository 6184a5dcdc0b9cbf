"""A language's programs are built by its own commands, and what came of it is written down; what fails is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue import building, builds
from orchestrator.catalogue.building import Result
from orchestrator.catalogue.platforms import here
from tests.support.tiny_language import MAKE, TOOL, tiny, write_tiny


def built(services: Path, **how: Any) -> tuple[Result, list[str]]:
    said: list[str] = []
    return building.build(tiny(services), services, say=said.append, **how), said


def test_what_was_built_is_written_down_with_what_it_was_made_of_and_by(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    result, said = built(tmp_path)
    assert (result.kind, result.why, said) == ("built", "", ["sh -e make.sh"])
    written = json.loads((folder / "build" / "built.json").read_text())
    assert (written["language"], written["contract"], written["platform"]) == ("tiny", 2, here())
    assert written["toolchain"] == {"sh": "7.1"}
    assert written["source"] == builds.source_digest(tiny(tmp_path), folder)
    assert list(written["artifacts"]) == ["build/respond", "build/request"]
    assert written["artifacts"]["build/respond"] == vars(builds.artifact(folder / "build" / "respond"))
    assert builds.look(tiny(tmp_path), tmp_path, here()).kind == "built"


def test_what_is_up_to_date_is_built_only_when_asked_for_and_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    built(tmp_path)
    first = {path.name: path.read_bytes() for path in (folder / "build").iterdir()}
    result, said = built(tmp_path)
    assert (result.kind, said) == ("up to date", [])
    assert result.built is not None
    result, said = built(tmp_path, again=True)
    assert (result.kind, said) == ("built", ["sh -e make.sh"])
    assert {path.name: path.read_bytes() for path in (folder / "build").iterdir()} == first


def test_versions_of_packages_are_those_that_the_build_tells(tmp_path: Path) -> None:
    tell = f"""{MAKE}echo '{{"fastify": "5.1.2"}}' > build/packages.json\n"""
    write_tiny(tmp_path, make=tell)
    result, _ = built(tmp_path)
    assert result.built is not None
    assert result.built.packages == {"fastify": "5.1.2"}
    state = builds.look(tiny(tmp_path), tmp_path, here())
    assert state.built == result.built


@pytest.mark.parametrize("printed", ["{", "nothing"])
def test_versions_that_cannot_be_read_fail_the_build(tmp_path: Path, printed: str) -> None:
    write_tiny(tmp_path, make=f"{MAKE}echo '{printed}' > build/packages.json\n")
    result, _ = built(tmp_path)
    assert result.kind == "failed"
    assert "build/packages.json" in result.why


def test_a_build_that_fails_shows_its_command_and_the_compilers_last_lines(tmp_path: Path) -> None:
    shout = "for n in $(seq 100); do echo line $n; done\necho main.c:3: no such thing >&2\nexit 2\n"
    folder = write_tiny(tmp_path, make=shout)
    result, _ = built(tmp_path)
    assert (result.kind, result.why, result.command) == ("failed", "it ended with 2", ("sh", "-e", "make.sh"))
    assert result.words[-2:] == ("line 100", "main.c:3: no such thing")
    assert len(result.words) == 20
    assert not (folder / "build" / "built.json").exists()
    assert (folder / "build" / "failed.log").read_text().startswith("line 1\nline 2\n")


def test_a_build_that_does_not_leave_what_it_should_has_failed(tmp_path: Path) -> None:
    write_tiny(tmp_path, make="install -m 755 source/respond build/\n")
    result, _ = built(tmp_path)
    assert (result.kind, "it made no build/request" in result.why) == ("failed", True)


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (
            {"program": "tinyc", "version": ["tinyc", "--version"]},
            "there is no tinyc on the PATH (it is in every image)",
        ),
        ({"at_least": "7.2"}, "sh is 7.1, older than 7.2 (it is in every image)"),
        ({"version": ["sh", "-c", "echo unknown"]}, "prints no version: unknown"),
    ],
)
def test_a_toolchain_that_is_missing_or_too_old_is_told_with_how_to_get_it(
    tmp_path: Path, tool: dict[str, Any], why: str
) -> None:
    folder = write_tiny(tmp_path, toolchain=[{**TOOL, **tool}])
    result, said = built(tmp_path)
    assert (result.kind, said) == ("lacking", [])
    assert why in result.why
    assert not (folder / "build").exists()


def test_a_language_that_runs_as_it_is_has_nothing_to_build(tmp_path: Path) -> None:
    write_tiny(tmp_path, build=[])
    assert built(tmp_path)[0].kind == "nothing to do"


def test_what_a_build_reads_elsewhere_is_its_source_when_it_says_so(tmp_path: Path) -> None:
    services, words = tmp_path / "services", tmp_path / "contract" / "words.json"
    words.parent.mkdir()
    words.write_text("{}")
    make = f"{MAKE}cat ../../contract/words.json >> build/respond\n"
    write_tiny(services, make=make, sources=["contract"])
    assert built(services)[0].kind == "built"
    words.write_text("[]")
    assert builds.look(tiny(services), services, here()).kind == "stale"
    assert built(services)[0].kind == "built"
    words.unlink()
    words.parent.rmdir()
    result, _ = built(services)
    assert (result.kind, result.why) == ("failed", "it reads contract, which is not beside services/ here")


def test_a_build_knows_no_secret_of_who_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "ORCH_POSTGRESQL": "postgresql://me:word@db/x",
        "AWS_SECRET_ACCESS_KEY": "word",
        "GOOGLE_APPLICATION_CREDENTIALS": "/word",
        "GH_TOKEN": "word",
        "PGPASSWORD": "word",
        "SSH_AUTH_SOCK": "/word",
    }
    for name, value in {**secrets, "GOFLAGS": "-x"}.items():
        monkeypatch.setenv(name, value)
    folder = write_tiny(tmp_path, make=f"{MAKE}env > build/environment\n")
    assert built(tmp_path)[0].kind == "built"
    seen = (folder / "build" / "environment").read_text()
    assert "GOFLAGS=-x" in seen
    assert [name for name in secrets if name in seen] == []
