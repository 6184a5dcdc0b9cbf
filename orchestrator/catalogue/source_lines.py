"""How many lines of source the ends of a stack are made of, as each language counted its own (`lines.json`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orchestrator.catalogue.offers import End, Protocol
from orchestrator.errors import UsageError
from orchestrator.strict_json import read_json
from services.python.contract.source_lines import FILE, SourceLines
from services.python.contract.strict import decode


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The lines of code of one end: of files that only its protocol's ends have, of those that others have, and generated.

    `files` are all of them, by path within the repository, with their lines, and `made` those that a program wrote.
    """

    own: int
    shared: int
    generated: int
    files: tuple[tuple[str, int], ...]
    made: frozenset[str] = frozenset()


def counted(services: Path, protocol: Protocol, end: End, *, asks: bool) -> Counted | None:
    """The lines of a responder, or of a client if it `asks`; None where its language has not counted them.

    UsageError when the language's file is no such file.
    """
    counts = _read(services / end.language.name / FILE)
    if counts is None or protocol.name not in counts.protocols:
        return None
    ends = counts.protocols[protocol.name]
    files = (ends.clients if asks else ends.responders).get(end.name)
    return None if files is None else _counted(counts, files, protocol.name)


def _counted(counts: SourceLines, files: Sequence[str], protocol: str) -> Counted:
    generated = {name for name in files if name in counts.generated}
    others = {
        name
        for other, ends in counts.protocols.items()
        if other != protocol
        for names in (*ends.responders.values(), *ends.clients.values())
        for name in names
    }
    own = set(files) - generated - others
    lines = {name: counts.files[name] for name in files}
    return Counted(
        own=sum(lines[name] for name in own),
        shared=sum(count for name, count in lines.items() if name not in own | generated),
        generated=sum(lines[name] for name in generated),
        files=tuple(lines.items()),
        made=frozenset(generated),
    )


@cache
def _read(path: Path) -> SourceLines | None:
    if not path.is_file():
        return None
    name = f"{path.parent.name}/{path.name}"
    try:
        return decode(SourceLines, read_json(path))
    except ValueError as error:
        raise UsageError(
            f"{name} cannot be used: {error}", hint="protos/schemas/source-lines.json says what it holds"
        ) from error
