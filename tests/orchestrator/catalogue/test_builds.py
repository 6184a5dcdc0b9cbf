"""Programs that are absent, stale, foreign, cut, altered or of another contract are told from those that can be used."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue import building, builds
from orchestrator.catalogue.platforms import here, made_for, named
from orchestrator.catalogue.toolchains import judged
from services.python.contract.manifest import Tool
from tests.support.tiny_language import ELF, of_another_machine, tiny, write_tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_tiny(tmp_path)
    assert building.build(tiny(tmp_path), tmp_path, say=lambda said: None).kind == "built"
    return made


def state(folder: Path) -> builds.State:
    return builds.look(tiny(folder.parent), folder.parent, here())


def record(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "build" / "built.json"
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def put(folder: Path, content: bytes) -> None:
    """Another responder, with a record that fits it."""
    program = folder / "build" / "respond"
    program.write_bytes(content)
    record(folder, lambda raw: raw["artifacts"].update({"build/respond": dict(vars(builds.artifact(program)))}))


def test_what_was_built_can_be_used_and_says_of_what_it_is(folder: Path) -> None:
    result = state(folder)
    assert (result.kind, result.why) == ("built", "")
    assert result.built is not None
    assert result.built.toolchain == {"sh": "7.1"}


def _cut(folder: Path) -> None:
    program = folder / "build" / "respond"
    program.write_bytes(program.read_bytes()[:50])


def _alter(folder: Path) -> None:
    program = folder / "build" / "respond"
    program.write_bytes(program.read_bytes().replace(b"exec", b"EXEC"))


BROKEN: list[tuple[Callable[[Path], object], str, str]] = [
    (lambda f: (f / "build" / "built.json").unlink(), "absent", "they are not built"),
    (lambda f: (f / "build" / "request").unlink(), "absent", "build/request cannot be read: No such file"),
    (_cut, "damaged", "build/respond is not what was built: its SHA-256 begins "),
    (_alter, "damaged", "build/respond is not what was built: its SHA-256 begins "),
    (lambda f: os.mkfifo(f / "source" / "pipe"), "built", ""),
    (lambda f: (f / "build" / "built.json").write_text("{"), "damaged", "build/built.json cannot be used: "),
    (lambda f: record(f, lambda r: r.update(more=1)), "damaged", "more is not a key"),
    (lambda f: record(f, lambda r: r["artifacts"].pop("build/request")), "stale", "build/request was not among"),
    (lambda f: (f / "source" / "respond").write_text("new"), "stale", "their source has changed since"),
    (lambda f: (f / "source" / "more").write_text("new"), "stale", "their source has changed since"),
    (lambda f: (f / "make.sh").rename(f / "make2.sh"), "stale", "their source has changed since"),
    (lambda f: put(f, of_another_machine()), "foreign", f", not for {here()}"),
    (
        lambda f: record(f, lambda r: r.update(contract=1)),
        "other contract",
        "they were built for contract 1; this orch speaks contract 2",
    ),
]


@pytest.mark.parametrize(
    ("break_it", "kind", "why"), BROKEN, ids=[f"{kind}-{n}" for n, (_, kind, _) in enumerate(BROKEN)]
)
def test_what_cannot_be_used_is_told_with_its_reason(
    folder: Path, break_it: Callable[[Path], object], kind: str, why: str
) -> None:
    break_it(folder)
    result = state(folder)
    assert result.kind == kind
    assert why in result.why


def test_a_program_is_of_the_platform_that_its_first_bytes_say() -> None:
    assert made_for(ELF.replace(b"%b", b"\x3e\x00")) == "linux-x86_64"
    assert made_for(ELF.replace(b"%b", b"\xb7\x00")) == named("Linux", "arm64")
    assert made_for(b"#!/usr/bin/env node\n") == made_for(b"") == ""


TOOL = Tool(program="tinyc", at_least="1.26", version=["tinyc", "version"], install="Get it.")


@pytest.mark.parametrize(
    ("status", "said", "version", "why"),
    [
        (0, "tinyc version tinyc1.26.0 linux/amd64", "1.26.0", ""),
        (0, "v20.19.2", "20.19.2", ""),
        (0, "tinyc 1.9.9 (2026-03-21)", "1.9.9", "tinyc is 1.9.9, older than 1.26"),
        (0, "hello", None, "tinyc version prints no version: hello"),
        (1, "tinyc 1.26", None, "tinyc version prints no version: tinyc 1.26"),
        (127, "sh: tinyc: not found", None, "there is no tinyc on the PATH"),
    ],
)
def test_a_version_is_read_from_what_a_program_says(status: int, said: str, version: str | None, why: str) -> None:
    result = judged(TOOL, status, said)
    assert (result.version, result.why) == (version, why)
