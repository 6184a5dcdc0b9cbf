"""The verb `setup seed`: the accounts and transactions of a database."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from orchestrator.catalogue.read import catalogue
from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import progress_bar
from orchestrator.errors import MissingError, UsageError
from orchestrator.experiment.model.factors import GIVEN

_ADDRESS = re.compile(r"postgres(ql)?:/|(\S+=.*)?\b(host|hostaddr|dbname|user|password)\s*=", re.IGNORECASE)


def seed(
    file: Annotated[
        Path | None,
        typer.Argument(help=f"A file of SQLite, made if it is not there; the server that {GIVEN} names unless given."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Seed a database with accounts and transactions, or verify that it is seeded.

    What is missing is seeded, what is there is verified by counts and digest; nothing that is not orch's is altered.
    """
    console.as_json = as_json
    settings = store_of(file)
    state = seeded(settings)
    rows = state["accounts"] + state["transactions"]
    how = f"seeded in {state['took_s']:.2f} s" if state["is_new"] else "was seeded before; verified, payments undone"
    console.result(f"{settings['store']} {state['version']}: {rows:,} rows, {how}")
    console.result(f"digest {state['digest']}")
    console.emit({"store": settings["store"], **state})


def seeded(settings: Mapping[str, str]) -> dict[str, Any]:
    """What the program says came of it, its progress drawn meanwhile; MissingError where the database cannot be seeded."""
    languages = sorted(catalogue().languages.values(), key=lambda language: (language.precedence, language.name))
    able = [language for language in languages if "seed" in language.start]
    if not able:
        raise MissingError("no language here has a program that seeds", hint="its manifest's `roles` would name it")
    with subprocess.Popen(
        able[0].argv("seed", _Here()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None  # noqa: S101 - narrows the type
        assert program.stdout is not None  # noqa: S101 - narrows the type
        assert program.stderr is not None  # noqa: S101 - narrows the type
        program.stdin.write(json.dumps(settings) + "\n")
        program.stdin.close()
        result: dict[str, Any] = {}
        with progress_bar("seeding, rows") as draw:
            for text in program.stdout:
                line = json.loads(text)
                if "done" in line:
                    draw(line["done"], line["of"])
                else:
                    result = line
        words = program.stderr.read().strip()
    if program.returncode != 0:
        raise MissingError(
            f"the database cannot be seeded: {words.splitlines()[-1] if words else 'the program says nothing of why'}",
            hint="name another database; what is there is left as it is",
        )
    return result


class _Here:
    """Where orch runs, as a place where a language's programs are started."""

    services = PurePosixPath(catalogue().folder)

    def python(self) -> Sequence[str]:
        """The interpreter that runs orch, which has `services` too."""
        return (sys.executable,)


def store_of(file: Path | None) -> dict[str, str]:
    """The settings of the program; UsageError where no database is named, or by an address on the command line."""
    if file is None:
        if not (dsn := os.environ.get(GIVEN)):
            raise UsageError(
                "no database is named",
                hint=f"orch setup seed FILE, or {GIVEN}=postgresql://user@host/name orch setup seed",
            )
        return {"store": "postgresql", "database": dsn}
    if _ADDRESS.match(str(file)):
        raise UsageError(
            "an address with its password would be seen by every user of this machine",
            hint=f"give it in the environment: {GIVEN}=postgresql://user@host/name orch setup seed",
        )
    return {"store": "sqlite", "database": str(file)}
