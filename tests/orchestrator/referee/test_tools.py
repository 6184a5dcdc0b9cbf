"""Which programs are used: by name and version, and what is said of those that cannot be."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from orchestrator.hosts.load_generators import look
from orchestrator.referee.tools import GHZ, OHA, TOOLS, WRK, Tool, version_of, why_not

ROOT = Path(__file__).parents[3]


def program(folder: Path, name: str, says: str, status: int = 0, more: str = "") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n# {more}\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("tool", "said", "version"),
    [
        (WRK, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>", "4.1.0"),
        (WRK, "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer", "4.2.0"),
        (OHA, "oha 1.16.0", "1.16.0"),
        (GHZ, "v0.121.0", "0.121.0"),
        (GHZ, "0.121.0", "0.121.0"),
        (GHZ, "dev", ""),
        (WRK, "", ""),
        (OHA, "no version at all", ""),
        (OHA, "oha 1." + "9" * 5_000, ""),
    ],
)
def test_the_version_is_read_from_what_it_says(tool: Tool, said: str, version: str) -> None:
    assert version_of(tool, said) == version


def test_a_program_of_go_that_does_not_know_its_version_is_read_itself() -> None:
    built = b"path\tgithub.com/bojand/ghz/cmd/ghz\nmod\tgithub.com/bojand/ghz\tv0.121.0\th1:abc=\ndep\tx\tv9.9.9\th1:"
    assert version_of(GHZ, "dev", built) == "0.121.0"
    assert version_of(GHZ, "dev", built.replace(b"v0.121.0", b"(devel)")) == ""
    assert version_of(OHA, "dev", built) == ""


def test_a_usable_one_is_told_with_version_and_checksum(tmp_path: Path) -> None:
    path = program(tmp_path, "oha", "oha 1.16.0")
    found = look(OHA, tmp_path)
    assert (found.version, found.why, found.path) == ("1.16.0", "", str(path))
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_status_above_zero_is_no_fault_as_wrk_ends_with_one(tmp_path: Path) -> None:
    program(tmp_path, "wrk", "wrk 4.1.0 [epoll]", status=1)
    assert look(WRK, tmp_path).is_usable


def test_ghz_0_120_is_refused_by_name_and_version(tmp_path: Path) -> None:
    path = program(tmp_path, "ghz", "v0.120.0")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"
    program(tmp_path, "ghz", "dev", more="mod\tgithub.com/bojand/ghz\tv0.120.0\th1:x")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"


def test_one_without_a_version_is_refused(tmp_path: Path) -> None:
    path = program(tmp_path, "ghz", "dev")
    assert look(GHZ, tmp_path).why == f"{path} tells no version"


def test_one_that_is_missing_or_cannot_be_started_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert look(WRK, tmp_path).why == "there is no wrk in build/referee or on the PATH"
    (tmp_path / "wrk").write_text("not a program")
    (tmp_path / "wrk").chmod(0o755)
    assert "cannot be asked for its version" in look(WRK, tmp_path).why


@pytest.mark.parametrize(("version", "is_new"), [("0.120.9", False), ("0.121", True), ("0.121.1", True), ("1.0", True)])
def test_versions_are_compared_as_numbers(version: str, is_new: bool) -> None:
    assert (why_not(GHZ, "ghz", version) == "") == is_new


def test_make_installs_the_least_versions() -> None:
    pinned = dict(re.findall(r"^(OHA|GHZ) := (\S+)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert pinned == {"OHA": OHA.least, "GHZ": GHZ.least}
    assert "@latest" not in (ROOT / "Makefile").read_text()


def test_each_says_how_to_get_it() -> None:
    assert all("make referee" in tool.install for tool in TOOLS.values())
