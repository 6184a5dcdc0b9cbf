"""Which load generators there are, which versions are used, and how to get them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from orchestrator.referee import ghz, oha, wrk
from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.readings import Figures

_PARTS = r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,5}"
_VERSION = re.compile(rf"\bv?({_PARTS})(?![0-9])")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A load generator: what it speaks, the least version whose report is read, and how to get it.

    `within`: how far, as a factor less one, its figures and ours may be apart before the check fails: measured, see
    docs/how-to/read-and-share.md. `module`: what a program of Go says of itself, where its `--version` does not.
    """

    name: str
    speaks: str
    least: str
    install: str
    within: float
    files: Callable[[Asked], dict[str, bytes]]
    argv: Callable[[str, Asked, Turn], list[str]]
    read: Callable[[str, int], Figures]
    module: str = ""


WRK = Tool(
    name="wrk",
    speaks="HTTP/1.1 on kept, plain connections",
    least="4.1.0",
    install="apt-get install wrk, or make referee as root",
    within=0.35,
    files=wrk.files,
    argv=wrk.argv,
    read=wrk.read,
)
OHA = Tool(
    name="oha",
    speaks="HTTP/1.1, plain or TLS, on kept connections or a new one for each request",
    least="1.16.0",
    install="make referee (needs cargo)",
    within=0.35,
    files=oha.files,
    argv=oha.argv,
    read=oha.read,
)
GHZ = Tool(
    name="ghz",
    speaks="gRPC on kept connections, plain or TLS",
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
    """A load generator of this machine; `why` says why it cannot be used, and is empty where it can."""

    tool: Tool
    path: str = ""
    version: str = ""
    sha256: str = ""
    why: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked to measure."""
        return not self.why


def version_of(tool: Tool, said: str, program: bytes = b"") -> str:
    r"""The version in what `--version` printed, or else in what the compiler noted in the program; "" where none is.

    >>> version_of(WRK, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer")
    '4.1.0'
    >>> version_of(GHZ, "dev", b"\x00mod\tgithub.com/bojand/ghz\tv0.121.0\th1:")
    '0.121.0'
    """
    first = next((line for line in said.splitlines() if line.strip()), "")
    if found := _VERSION.search(first):
        return found[1]
    if tool.module:
        noted = re.search(rb"mod\t" + re.escape(tool.module.encode()) + rb"\tv(" + _PARTS.encode() + rb")", program)
        return noted[1].decode() if noted else ""
    return ""


def why_not(tool: Tool, path: str, version: str) -> str:
    """Why a version cannot be used, with its name; "" where it can."""
    if not version:
        return f"{path} tells no version"
    if _numbers(version) < _numbers(tool.least):
        return f"{path} is {tool.name} {version}, older than {tool.least}"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    parts = [int(part) for part in version.split(".")]
    return tuple(part for part, _ in zip_longest(parts, range(4), fillvalue=0))


def usable(found: Sequence[Found]) -> dict[str, Found]:
    """Those that can be asked, by name."""
    return {one.tool.name: one for one in found if one.is_usable}
