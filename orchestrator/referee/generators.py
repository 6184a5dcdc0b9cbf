"""Which load generators there are, which versions are used, and how to get them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orchestrator.referee import ghz, oha, wrk
from orchestrator.referee.exchange import Exchange, Figures, Turn

_VERSION = re.compile(r"\bv?(\d+\.\d+\.\d+)")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A load generator: the least version whose report is read, and how to get it.

    `within`: how far, as a factor less one, its figures and ours may differ before the check fails: measured, see
    docs/how-to/read-and-share.md. `module`: its module of Go, whose version is in a program that has none to print.
    """

    name: str
    least: str
    install: str
    within: float
    files: Callable[[Exchange], dict[str, bytes]]
    argv: Callable[[str, Exchange, Turn], list[str]]
    read: Callable[[str, int], Figures]
    module: str = ""


WRK = Tool(
    name="wrk",
    least="4.1.0",
    install="apt-get install wrk, or make referee as root",
    within=0.35,
    files=wrk.files,
    argv=wrk.argv,
    read=wrk.read,
)
OHA = Tool(
    name="oha",
    least="1.16.0",
    install="make referee (needs cargo)",
    within=0.35,
    files=oha.files,
    argv=oha.argv,
    read=oha.read,
)
GHZ = Tool(
    name="ghz",
    least="0.121.0",
    install="make referee (needs go)",
    within=0.5,
    files=ghz.files,
    argv=ghz.argv,
    read=ghz.read,
    module="github.com/bojand/ghz",
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (WRK, OHA, GHZ)}


@dataclass(frozen=True, kw_only=True)
class Found:
    """A load generator of this machine; `why` is the reason why it cannot be used, empty where it can."""

    tool: Tool
    path: str = ""
    version: str = ""
    sha256: str = ""
    why: str = ""


def version_of(tool: Tool, printed: str, program: bytes = b"") -> str:
    r"""Return the version in what `--version` printed, else the one that Go's compiler noted in the program; "" without.

    >>> version_of(WRK, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer")
    '4.1.0'
    >>> version_of(GHZ, "dev", b"\x00mod\tgithub.com/bojand/ghz\tv0.121.0\th1:")
    '0.121.0'
    """
    noted = program.partition(f"mod\t{tool.module}\t".encode())[2][:32].decode("latin-1") if tool.module else ""
    match = _VERSION.search(printed.strip().partition("\n")[0]) or _VERSION.match(noted)
    return match[1] if match else ""


def why_not(tool: Tool, path: str, version: str) -> str:
    """Return why a version cannot be used, with its name; "" where it can."""
    if not version:
        return f"{path} has no version that can be read"
    if tuple(map(int, version.split("."))) < tuple(map(int, tool.least.split("."))):
        return f"{path} is {tool.name} {version}, older than {tool.least}"
    return ""
