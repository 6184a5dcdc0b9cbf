"""Builds a language's programs by the commands of its manifest; the record (`builds.RECORD`) has no date and no path."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from orchestrator.catalogue import builds, toolchains
from orchestrator.catalogue.builds import Built
from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.platforms import here
from orchestrator.disk import whole_file
from orchestrator.strict_json import read_json
from services.python.contract.lines import VERSION as CONTRACT

_PATIENCE_S = 3600.0
_LINES_SHOWN = 20

# What a compiler says is read by people and by tests, and a date in what it makes would be another one each time.
_ENVIRONMENT = {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}

# Builds run code of packages that nobody here has read: databases, clouds and keys are none of its business.
_SECRET = re.compile(r"^ORCH_|^PG|TOKEN|SECRET|PASSW|CREDENTIAL|KEY|AUTH|DSN|DATABASE_URL", re.IGNORECASE)

Kind: TypeAlias = Literal["built", "up to date", "nothing to do", "lacking", "failed"]
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Result:
    """How it went. `why` is a clause; `command` is what failed, and `words` the last lines that it said."""

    language: Language
    kind: Kind
    why: str = ""
    command: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    built: Built | None = None


class _Failed(Exception):
    def __init__(self, why: str, command: Sequence[str] = (), words: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.command = tuple(command)
        self.words = tuple(words.splitlines()[-_LINES_SHOWN:])


def build(language: Language, services: Path, *, again: bool = False, say: Say) -> Result:
    """Build where the programs are not what their source gives, or `again`; what was built stays where a build fails."""
    if not language.build:
        return Result(language=language, kind="nothing to do")
    folder = services / language.name
    programs = [toolchains.look(tool, folder) for tool in language.toolchain]
    versions = {program.tool.program: program.version for program in programs if program.version is not None}
    if lacking := toolchains.lacking(programs):
        return Result(language=language, kind="lacking", why=lacking)
    try:
        state = builds.look(language, services, here())
        if state.kind == "built" and not again and state.built is not None and state.built.toolchain == versions:
            return Result(language=language, kind="up to date", built=state.built)
        built = _build(language, folder, versions, say)
        with whole_file(folder / builds.RECORD) as partial:
            partial.write_text(json.dumps(built, indent=1, default=vars) + "\n", encoding="utf-8")
        state = builds.look(language, services, here())
        if state.why:
            raise _Failed(state.why)
    except _Failed as failed:
        return Result(language=language, kind="failed", why=failed.why, command=failed.command, words=failed.words)
    return Result(language=language, kind="built", built=built)


def _build(language: Language, folder: Path, toolchain: dict[str, str], say: Say) -> Built:
    (folder / builds.FOLDER).mkdir(parents=True, exist_ok=True)
    for name in language.sources:
        if not builds.path_of(folder, f"{builds.UP}{name}").exists():
            raise _Failed(f"it reads {name}, which is not beside services/ here")
    (folder / builds.PACKAGES).unlink(missing_ok=True)  # of an earlier build
    for command in language.build:
        _run(command, folder, say)
    artifacts = {}
    for name in language.artifacts:
        try:
            artifacts[name] = builds.artifact(folder / name)
        except OSError as error:
            raise _Failed(f"it made no {name} ({error.strerror})", language.build[-1]) from error
    return Built(
        language=language.name,
        contract=CONTRACT,
        platform=here(),
        source=_source(language, folder),
        toolchain=toolchain,
        artifacts=artifacts,
        packages=_packages(folder),
    )


def _source(language: Language, folder: Path) -> str:
    try:
        return builds.source_digest(language, folder)
    except OSError as error:
        raise _Failed(f"its source cannot be read: {error}") from error


def _packages(folder: Path) -> dict[str, str]:
    try:
        packages: dict[str, str] = read_json(folder / builds.PACKAGES)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise _Failed(f"its {builds.PACKAGES} cannot be read: {error}") from error
    return packages


def _run(command: Sequence[str], folder: Path, say: Say) -> None:
    """Run one command in the folder to its end; _Failed with its last lines, and all of them in `builds.LOG`."""
    say(shlex.join(command))
    log = folder / builds.LOG
    with log.open("w+b") as printed:
        try:
            status = subprocess.run(
                command,
                cwd=folder,
                env=_environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=_PATIENCE_S,
            ).returncode
        except OSError as error:
            raise _Failed(f"it cannot be started: {error.strerror}", command) from error
        except subprocess.TimeoutExpired as error:
            raise _Failed(f"it did not end within {_PATIENCE_S / 60:g} minutes", command) from error
        if status:
            printed.seek(0)
            raise _Failed(f"it ended with {status}", command, printed.read().decode(errors="replace"))
    log.unlink(missing_ok=True)


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What commands of a build inherit: no variable whose name says that it is a secret, and none of orch's own."""
    return {**{name: value for name, value in inherited.items() if not _SECRET.search(name)}, **_ENVIRONMENT}
