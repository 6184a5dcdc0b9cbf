"""How many lines of source each end of a language is made of: the shape of `services/<language>/lines.json`.

A language may have the file; its own program counts and writes it. Paths are those within the repository.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from services.python.contract.strict import Between, Part, part

VERSION: Final = 1
FILE: Final = "lines.json"


@part
class EndFiles(Part):
    """The files of each responder and each client of a protocol, by name.

    Those of the harness (contract, load, operations, probes, programs, serve), which all ends have alike, are left out.
    """

    responders: dict[str, list[str]]
    clients: dict[str, list[str]]


@part
class SourceLines(Part):
    """The lines of code of each file, without blank lines, comments and documentation.

    `generated` names the files that a program wrote, `protocols` which files an end consists of.
    """

    lines: Literal[1] = VERSION
    language: str
    files: dict[str, Annotated[int, Between(0)]]
    generated: list[str]
    protocols: dict[str, EndFiles]
