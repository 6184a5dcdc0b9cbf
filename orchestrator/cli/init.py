"""Start an experiment: write a commented YAML file to change. It is valid as it stands."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.errors import UsageError

_DEFAULT = Path("experiments") / "first.yaml"


def command(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = _DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write the file; never over one that is there."""
    console.as_json = as_json
    text = starter(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} already exists", hint="give another name: orch init FILE") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    console.result(f"wrote {file}")
    console.result(f"next: change it, then `orch plan {file}`")
    console.emit({"file": str(file)})


def starter(file: Path) -> str:
    """The starter experiment, named after its file; it names the schema for editors where that file is there."""
    name = re.sub(r"[^a-z0-9_-]+", "_", file.stem.lower()).strip("_-")[:40] or "experiment"
    schema = Path("experiments") / "schema.json"
    template = Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")
    if not schema.is_file():
        return template.split("#\n", 1)[1].format(name=name, file=file)
    shown = os.path.relpath(schema.resolve(), file.resolve().parent)
    return template.format(name=name, file=file, schema=shown)
