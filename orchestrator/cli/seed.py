"""Seed a database with the accounts and transactions that a service over one answers from, or verify that it is seeded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.errors import MissingError, UsageError
from orchestrator.hosts.local.postgresql import GIVEN

_SCHEMES = ("postgresql://", "postgres://")


def command(
    file: Annotated[
        Path | None,
        typer.Argument(help=f"A file of SQLite, made if it is not there; the server that {GIVEN} names unless given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Seed what is not there, verify what is, by counts and digest; nothing that is not orch's is altered."""
    console.as_json = as_json
    settings = store_of(file)
    made = subprocess.run(
        [sys.executable, "-m", "services.python.programs.seed"],
        input=json.dumps(settings) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if as_json or not sys.stderr.isatty() else None,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise MissingError(
            f"the database cannot be seeded: {(made.stderr or 'see above').strip()}",
            hint="name another database; what is there is left as it is",
        )
    found = json.loads(made.stdout)
    rows = found["accounts"] + found["transactions"]
    how = f"seeded in {found['took_s']:.2f} s" if found["is_new"] else "was seeded before; verified, payments undone"
    console.result(f"{settings['store']} {found['version']}: {rows:,} rows, {how}")
    console.result(f"digest {found['digest']}")
    console.emit({"store": settings["store"], **found})


def store_of(file: Path | None) -> dict[str, str]:
    """What the program is told; UsageError where no database is named, or by an address on the command line."""
    if file is None:
        if not (dsn := os.environ.get(GIVEN)):
            raise UsageError(
                "no database is named", hint=f"orch seed FILE, or {GIVEN}=postgresql://user@host/name orch seed"
            )
        return {"store": "postgresql", "database": dsn}
    if str(file).startswith(tuple(scheme.replace("//", "/") for scheme in _SCHEMES)):
        raise UsageError(
            "an address with its password would be seen by every user of this machine",
            hint=f"give it in the environment: {GIVEN}=postgresql://user@host/name orch seed",
        )
    return {"store": "sqlite", "database": str(file)}
