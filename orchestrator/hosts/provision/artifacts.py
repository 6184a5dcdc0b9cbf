"""The programs of a plan's languages as one tar for hosts: the files that were built here, each with its SHA-256.

Sources and toolchains stay on the controller. A host checks every file against the list that came with it.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.catalogue.builds import MOST_FILE
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import needed_languages, require_programs
from orchestrator.files import UnreadableFile, read_file
from orchestrator.hosts.provision.archives import kept
from orchestrator.hosts.provision.wheelhouse import Bundle, Target
from services.python.contract.source import digest as digest_of

_DIGITS = 12  # of a digest, in a file's name
_SUMS = "SHA256SUMS"  # as `sha256sum --check` reads it


@dataclass(frozen=True, kw_only=True)
class _File:
    name: str  # below the folder of all languages
    content: bytes
    is_started: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def programs(plan: Plan, target: Target, cache: Path) -> Bundle | None:
    """What hosts of that kind need of the languages of a plan; None where none of them has files of its own.

    UsageError where something is not built as it should be, ProvisionError where it was built for other hosts.
    """
    built = require_programs(plan)
    files = []
    for language in needed_languages(plan):
        folder = catalogue().folder / language.name
        for name in language.artifacts:
            path = folder / name
            file = _File(name=f"{language.name}/{name}", content=_content(path), is_started=os.access(path, os.X_OK))
            recorded = built[language.name].artifacts[name] if language.name in built else None
            if recorded is not None and recorded.sha256 != file.sha256:
                raise ProvisionError(f"{path} has changed just now", hint="run again")
            if recorded is not None and recorded.platform not in ("", target.platform):
                raise ProvisionError(
                    f"{path} is a program for {recorded.platform}; the hosts are {target.platform}",
                    hint=f"build it on {target.platform}, or choose another machine type",
                )
            files.append(file)
    if not files:
        return None
    digest = digest_of(part for file in files for part in _identity(file))[:_DIGITS]
    tar = kept(
        cache / f"programs-{digest}.tar", lambda path: _write(path, files), lambda path: _holds(path, _members(files))
    )
    return Bundle(path=tar, digest=digest)


def _content(path: Path) -> bytes:
    try:
        return read_file(path, MOST_FILE)
    except (FileNotFoundError, UnreadableFile) as error:
        why = "is gone" if isinstance(error, FileNotFoundError) else str(error)
        raise ProvisionError(f"{path} {why}", hint="`orch services` shows what is built") from error


def _identity(file: _File) -> Iterable[bytes]:
    return file.name.encode(), file.content, bytes([file.is_started])


def _members(files: Iterable[_File]) -> list[tuple[str, int, bytes]]:
    """Name, mode and content of each member of the tar: the list of sums first."""
    every = tuple(files)
    sums = "".join(f"{file.sha256}  {file.name}\n" for file in every)
    return [
        (_SUMS, 0o644, sums.encode()),
        *((file.name, 0o755 if file.is_started else 0o644, file.content) for file in every),
    ]


def _write(tar: Path, files: Iterable[_File]) -> None:
    """Owner and time left out, so that equal files are an equal tar; appears whole or not at all."""
    with tempfile.TemporaryDirectory(dir=tar.parent) as scratch:
        partial = Path(scratch, tar.name)
        with tarfile.open(partial, "w") as archive:
            for name, mode, content in _members(files):
                info = tarfile.TarInfo(name)
                info.size, info.mode = len(content), mode
                archive.addfile(info, io.BytesIO(content))
        partial.replace(tar)


def _holds(tar: Path, wanted: list[tuple[str, int, bytes]]) -> bool:
    """Whether the tar holds these members and no others."""
    try:
        with tarfile.open(tar) as archive:
            found = [
                (member.name, member.mode, b"" if (file := archive.extractfile(member)) is None else file.read())
                for member in archive
            ]
    except tarfile.TarError:
        return False
    return found == wanted
