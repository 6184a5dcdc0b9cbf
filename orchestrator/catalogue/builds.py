"""What a build of a language's programs left: the record beside them, and whether it can be used.

Looking hashes source and files anew, so it is done only for languages that somebody names.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.platforms import ANY, HEAD_BYTES, made_for
from orchestrator.files import sha256_of
from orchestrator.strict_json import read_json
from services.python.contract.lines import VERSION as CONTRACT
from services.python.contract.source import digest
from services.python.contract.strict import Part, decode, part

FOLDER: Final = "build"
RECORD: Final = f"{FOLDER}/built.json"
PACKAGES: Final = f"{FOLDER}/packages.json"  # which a build may leave: the versions of the packages in what it made
LOG: Final = f"{FOLDER}/failed.log"  # all that the command said that failed last
_MADE = frozenset({FOLDER, "target"})  # what builds write into, in the language's own folder
UP = "../../"  # from the folder of a language to the one above that of all languages
_NO_SOURCE = frozenset({"node_modules", "__pycache__", ".DS_Store"})  # wherever they lie

Kind: TypeAlias = Literal["nothing to build", "built", "absent", "damaged", "stale", "foreign", "other contract"]


@part
class Artifact(Part):
    """A file that a host needs. `platform`: what it was made for; empty where it is no program of a processor's own."""

    sha256: str
    size_bytes: int
    platform: str = ANY


@part
class Built(Part):
    """What was built: the SHA-256 of its source, versions of tools and of the packages in it, platform, contract."""

    built: Literal[1] = 1
    language: str
    contract: int
    platform: str
    source: str
    toolchain: dict[str, str]
    artifacts: dict[str, Artifact]
    packages: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class State:
    """Whether a language's programs can be started on a platform; `why` not is a clause, empty where they can."""

    kind: Kind
    why: str = ""
    built: Built | None = None


def look(language: Language, services: Path, platform: str) -> State:
    """The state of the programs in that folder of `services`, for that platform."""
    if not language.build:
        return State(kind="nothing to build")
    folder = services / language.name
    try:
        built = decode(Built, read_json(folder / RECORD))
    except FileNotFoundError:
        return State(kind="absent", why="they are not built")
    except ValueError as error:
        return State(kind="damaged", why=f"{RECORD} cannot be used: {error}")
    kind, why = _fault(language, folder, built, platform)
    return State(kind=kind, why=why, built=built)


def _fault(language: Language, folder: Path, built: Built, platform: str) -> tuple[Kind, str]:
    if built.contract != CONTRACT:
        return "other contract", f"they were built for contract {built.contract}; this orch speaks contract {CONTRACT}"
    for name in language.artifacts:
        if name not in built.artifacts:
            return "stale", f"{name} was not among what was built"
        kind, why = _fault_of(folder / name, name, built.artifacts[name])
        if why:
            return kind, why
    for name in language.artifacts:
        target = built.artifacts[name].platform
        if target not in (ANY, platform):
            return "foreign", f"{name} is a program for {target}, not for {platform}"
    try:
        if source_digest(language, folder) != built.source:
            return "stale", "their source has changed since they were built"
    except OSError as error:
        return "stale", f"their source cannot be read: {error}"
    return "built", ""


def _fault_of(path: Path, name: str, recorded: Artifact) -> tuple[Kind, str]:
    try:
        actual = artifact(path)
    except OSError as error:
        return "absent", f"{name} cannot be read: {error.strerror}"
    if actual.sha256 != recorded.sha256:
        return (
            "damaged",
            f"{name} is not what was built: its SHA-256 begins {actual.sha256[:12]}, not {recorded.sha256[:12]}",
        )
    return "built", ""


def artifact(path: Path) -> Artifact:
    """What a file is; OSError when it cannot be read."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(HEAD_BYTES)
        file.seek(0)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return Artifact(sha256=sha256, size_bytes=size, platform=made_for(head))


def source(language: Language, folder: Path) -> Mapping[str, bytes]:
    """The SHA-256 of every file that the programs are made of, by its path in the folder."""
    outputs = {folder / name for name in language.artifacts}
    paths = {path.relative_to(folder).as_posix(): path for path in _files(folder) if path not in outputs}
    for name in language.sources:
        other = path_of(folder, f"{UP}{name}")
        every = [other] if other.is_file() else _files(other)
        paths |= {f"{UP}{name}{path.as_posix().removeprefix(other.as_posix())}": path for path in every}
    return {name: bytes.fromhex(sha256_of(paths[name])) for name in sorted(paths) if paths[name].is_file()}


def path_of(folder: Path, name: str) -> Path:
    """Where a file of `source` lies."""
    return folder.parents[1] / name.removeprefix(UP) if name.startswith(UP) else folder / name


def source_digest(language: Language, folder: Path) -> str:
    """One SHA-256 of names and content of `source`."""
    files = source(language, folder)
    return digest(piece for name, content in files.items() for piece in (os.fsencode(name), content))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        is_top = here == folder
        folders[:] = [name for name in folders if name not in _NO_SOURCE and not (is_top and name in _MADE)]
        yield from (here / name for name in names if name not in _NO_SOURCE)


def in_words(toolchain: Mapping[str, str], of_source: str) -> str:
    """What something was built with, and of what.

    >>> in_words({"sh": "7.1"}, "0123456789abcdef")
    'built with sh 7.1, of source 0123456789ab'
    """
    tools = ", ".join(f"{program} {version}" for program, version in toolchain.items()) or "no toolchain"
    return f"built with {tools}, of source {of_source[:12]}"
