"""`orch setup build`, and what `services`, `doctor`, `plan` and `validate` say of programs that are built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_language import MAKE, ORCH, ROOT, STACK, TOOL, write_tiny

pytestmark = pytest.mark.busy


class Folder:
    """A working folder with an experiment, and beside it the services that `orch` finds."""

    def __init__(self, place: Path) -> None:
        self.services, self.work = place / "services", place / "work"
        self.work.mkdir()
        text = f"name: x\nquestion: Which?\nstacks:\n  - {STACK}\noperations: add\nrepeats: 1\n"
        (self.work / "x.yaml").write_text(text)

    def orch(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", ORCH, str(self.services), *words],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def document(self, *words: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.orch(*words, "--json").stdout)
        return document


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_build_says_in_a_line_each_what_was_made(folder: Folder) -> None:
    made = write_tiny(folder.services)
    done = folder.orch("setup", "build")
    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads((made / "build" / "built.json").read_text())["artifacts"]["build/respond"]
    respond, request = done.stdout.splitlines()
    assert respond == f"Tiny: build/respond  {written['size_bytes']:,} bytes  sha256 {written['sha256']}"
    assert request.startswith("Tiny: build/request  ")


@pytest.mark.slow
def test_a_build_that_fails_ends_with_9_and_the_compilers_words_and_the_others_go_on(folder: Folder) -> None:
    write_tiny(folder.services)
    other = folder.services / "other"
    other.mkdir()
    raw = json.loads((folder.services / "tiny" / "manifest.json").read_text())
    raw |= {
        "language": "other",
        "title": "Other",
        "precedence": 8,
        "build": [["sh", "-c", "echo main.x:3: oh no; exit 2"]],
    }
    for end in (*raw["protocols"][0]["responders"], *raw["protocols"][0]["clients"]):
        end["name"] = "other"
    raw["protocols"][0] |= {"sequential": "other", "concurrent": "other"}
    (other / "manifest.json").write_text(json.dumps(raw))
    done = folder.orch("setup", "build")
    assert done.returncode == 9
    assert (
        "Other: sh -c 'echo main.x:3: oh no; exit 2' (in services/other): it ended with 2\n    main.x:3: oh no"
        in done.stderr
    )
    assert "error: building Other failed" in done.stderr
    assert "the whole output is in services/other/build/failed.log" in done.stderr
    assert done.stdout.count("Tiny: build/") == 2
    failed = folder.document("setup", "build")
    assert (failed["error"]["exit_code"], failed["languages"][0]["words"]) == (9, ["main.x:3: oh no"])


@pytest.mark.slow
def test_a_missing_toolchain_is_told_and_is_no_failure_unless_its_language_was_named(folder: Folder) -> None:
    write_tiny(folder.services, toolchain=[{**TOOL, "program": "tinyc", "version": ["tinyc", "-v"]}])
    done = folder.orch("setup", "build")
    assert done.returncode == 0
    assert done.stdout == "Tiny: left out: there is no tinyc on the PATH (it is in every image)\n"
    named = folder.orch("setup", "build", "tiny")
    assert (named.returncode, "there is no tinyc on the PATH" in named.stderr) == (3, True)


@pytest.mark.slow
def test_services_and_doctor_say_whether_programs_are_built_and_what_to_call(folder: Folder) -> None:
    made = write_tiny(folder.services)
    line = "Tiny      services/tiny    they are not built; `orch setup build tiny` makes them (sh -e make.sh)"
    assert line in folder.orch("services").stdout
    doctor = folder.orch("doctor").stdout
    assert "build tiny" in doctor
    assert "only experiments that name Tiny need it: `orch setup build tiny`" in doctor
    folder.orch("setup", "build")
    assert "Tiny      services/tiny    built with sh 7.1, of source " in folder.orch("services").stdout
    (made / "make.sh").write_text(f"# new\n{MAKE}")
    assert "their source has changed since they were built" in folder.orch("services").stdout


@pytest.mark.slow
def test_a_plan_shows_what_is_not_built_and_run_refuses_it(folder: Folder) -> None:
    made = write_tiny(folder.services)
    missing = "the programs of Tiny cannot be used: they are not built; run `orch setup build tiny`, or `make native`"
    assert folder.document("plan", "x.yaml")["missing"] == [missing]
    for words in (["run", "x.yaml"], ["run"]):
        done = folder.orch(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert missing in done.stderr
    assert not (folder.work / "results").exists()
    assert folder.orch("plan", "--check", "x.yaml").returncode == 0
    folder.orch("setup", "build")
    assert folder.document("plan", "x.yaml")["missing"] == []
    (made / "build" / "request").write_bytes(b"#!/bin/sh\n")
    done = folder.orch("run")
    assert (done.returncode, "build/request is not what was built: " in done.stderr) == (2, True)
    assert list((folder.work / "results").glob("*")) == []
