"""Counts the source of Python's ends: `services/python/lines.json`, which `python_manifest` writes beside the manifest.

An end consists of the modules of `protocols`, `codecs`, `transports` and `generated` that the module it begins with
imports, directly or through others, and of the schemas that belong to these.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from services.python.contract import offers, source_lines
from services.python.contract.source_lines import EndFiles, SourceLines

ROOT = Path(__file__).resolve().parents[3]
FILE = Path(__file__).resolve().parents[1] / source_lines.FILE

COUNTED: Final = ("protocols", "codecs", "transports", "generated")
"""The folders that differ between ends."""

SCHEMAS: Final[Mapping[str, str]] = {
    "services/python/generated/orch_pb2.py": "protos/orch.proto",
    "services/python/codecs/avro.py": "services/python/codecs/operations.avsc",
}
"""The schema that somebody wrote, by the module that was generated from it or reads it."""

_GENERATED = "services/python/generated/"
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def of_python(root: Path = ROOT) -> SourceLines:
    """The lines of every file that an end is made of, and which end is made of which."""
    ends = {
        protocol.name: EndFiles(
            responders={r.name: files_of(root, *r.modules) for r in protocol.responders},
            clients={c.name: files_of(root, *c.modules) for c in protocol.clients},
        )
        for protocol in offers.protocols().values()
    }
    every = sorted(
        {file for of in ends.values() for files in (*of.responders.values(), *of.clients.values()) for file in files}
    )
    return SourceLines(
        language="python",
        files={file: lines_of(root / file) for file in every},
        generated=[file for file in every if file.startswith(_GENERATED)],
        protocols=ends,
    )


def text(what: SourceLines) -> str:
    """The file: a line for each file that is counted, and one for each end, so that changes are easy to read."""

    def block(entries: Iterable[str], indent: str) -> str:
        return ",\n".join(f"{indent}{entry}" for entry in entries)

    def ends(of: Mapping[str, list[str]]) -> str:
        return block((f"{json.dumps(name)}: {json.dumps(files)}" for name, files in of.items()), "        ")

    protocols = ",\n".join(
        f'    {json.dumps(name)}: {{\n      "responders": {{\n{ends(of.responders)}\n      }},\n'
        f'      "clients": {{\n{ends(of.clients)}\n      }}\n    }}'
        for name, of in what.protocols.items()
    )
    files = block((f"{json.dumps(name)}: {count}" for name, count in what.files.items()), "    ")
    return (
        f'{{\n  "lines": {what.lines},\n  "language": {json.dumps(what.language)},\n'
        f'  "files": {{\n{files}\n  }},\n  "generated": {json.dumps(what.generated)},\n'
        f'  "protocols": {{\n{protocols}\n  }}\n}}\n'
    )


def files_of(root: Path, *modules: str) -> list[str]:
    """The files that an end consists of, in order, as paths within the repository."""
    seen: set[Path] = set()
    waiting = [path for module in modules for path in _files(root, module)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [found for name in _imports(path) for found in _files(root, name)]
    named = {path.relative_to(root).as_posix() for path in seen}
    return sorted(named | {SCHEMAS[name] for name in named & SCHEMAS.keys()})


def _files(root: Path, name: str) -> Iterator[Path]:
    """The module that a full name stands for, or stands in, if it is among those that are counted.

    What packages say of themselves (`__init__.py`) is a declaration to the harness, and no part of an end.
    """
    words = name.split(".")
    if words[:2] != ["services", "python"] or len(words) < 4 or words[2] not in COUNTED:
        return
    for length in (len(words), len(words) - 1):
        path = root.joinpath(*words[:length]).with_suffix(".py")
        if path.is_file():
            yield path
            return


@cache
def _imports(path: Path) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)


def lines_of(path: Path) -> int:
    """The lines of code of a file: no blank lines, no comments, and in Python no documentation strings."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return len(_code_lines(content))
    return sum(bool(line.strip()) and not line.lstrip().startswith(("//", "#")) for line in content.splitlines())


def _code_lines(content: str) -> set[int]:
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return found - {line for node in _documentation(content) for line in range(node.lineno, (node.end_lineno or 0) + 1)}


def _documentation(content: str) -> Iterator[ast.Expr]:
    """Every statement that is nothing but a string."""
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node
