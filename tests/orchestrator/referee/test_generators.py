"""Which programs are used: by name and version, and what is said of those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.hosts.load_generators import look
from orchestrator.referee.generators import GHZ, OHA, WRK, Tool, version_of


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


def test_ghz_0_120_is_refused_by_name_and_version(tmp_path: Path) -> None:
    path = program(tmp_path, "ghz", "v0.120.0")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"
    program(tmp_path, "ghz", "dev", more="mod\tgithub.com/bojand/ghz\tv0.120.0\th1:x")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"


def test_one_that_is_missing_or_cannot_be_started_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert look(WRK, tmp_path).why == "there is no wrk in build/referee or on the PATH"
    (tmp_path / "wrk").write_text("not a program")
    (tmp_path / "wrk").chmod(0o755)
    assert "cannot be asked for its version" in look(WRK, tmp_path).why
