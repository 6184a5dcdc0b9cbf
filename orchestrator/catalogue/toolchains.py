"""Programs that a build or a host needs: whether one is there, and new enough."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from services.python.contract.manifest import Tool

PATIENCE_S = 60.0
_ABSENT = 127  # what a shell and `env` end with where there is no such program

_VERSION = (re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,5}"), re.compile(r"[0-9]{1,9}"))


@dataclass(frozen=True, kw_only=True)
class Found:
    """What is known of a program: its version (None where it has none), and why it cannot be used (empty where it can)."""

    tool: Tool
    version: str | None = None
    why: str = ""


def look(tool: Tool, folder: Path) -> Found:
    """Ask the program on this machine's PATH, in `folder`: some take another version in another folder."""
    if shutil.which(tool.version[0]) is None:
        return judged(tool, _ABSENT, "")
    try:
        done = subprocess.run(
            tool.version,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found(tool=tool, why=f"{shlex.join(tool.version)} cannot be asked: {error}")
    return judged(tool, done.returncode, done.stdout)


def judged(tool: Tool, status: int, output: str) -> Found:
    """What to make of the exit status of the command that prints the version, and of what it said."""
    if status == _ABSENT:
        return Found(tool=tool, why=f"there is no {tool.program} on the PATH")
    number = next((match[0] for pattern in _VERSION if (match := pattern.search(output))), None)
    if status or number is None:
        first_line = output.strip().partition("\n")[0]
        return Found(tool=tool, why=f"{shlex.join(tool.version)} prints no version: {first_line[:200] or status}")
    if _is_older(number, tool.at_least):
        return Found(tool=tool, version=number, why=f"{tool.program} is {number}, older than {tool.at_least}")
    return Found(tool=tool, version=number)


def lacking(programs: Iterable[Found]) -> str:
    """Why some of these programs cannot be used, and how to get them; empty where all can."""
    return "; ".join(f"{program.why} ({program.tool.install.rstrip('.')})" for program in programs if program.why)


def _is_older(version: str, least: str) -> bool:
    pairs = zip_longest(map(int, version.split(".")), map(int, least.split(".")), fillvalue=0)
    return next((have < want for have, want in pairs if have != want), False)
