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
_SCHEMA = Path("experiments") / "schema.json"
_MOST_BYTES = 4_000_000


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
    """The starter experiment, named after its file; it names the schema for editors where one is found from there."""
    name = re.sub(r"[^a-z0-9_-]+", "_", file.stem.lower()).strip("_-")[:40] or "experiment"
    template = Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")
    schema = schema_from(file)
    if schema is None:
        return template.split("#\n", 1)[1].format(name=name, file=file)
    return template.format(name=name, file=file, schema=schema)


def schema_from(file: Path) -> str | None:
    """The schema of experiments as a file there names it: the one beside it, or this folder's; None without one.

    Editors go from folder to folder by name alone: through a link the way back is another one, and then none is named.
    """
    folder = Path(os.path.normpath(Path.cwd() / file)).parent  # links not followed: as an editor has it
    for schema in (folder / _SCHEMA.name, Path.cwd() / _SCHEMA):
        shown = os.path.relpath(schema, folder)
        if _is_ours(schema) and folder.resolve().joinpath(shown).resolve() == schema.resolve():
            return shown
    return None


def _is_ours(schema: Path) -> bool:
    """Whether it is a schema of experiments: other programs have a schema.json, too."""
    from orchestrator.experiment.model import SCHEMA_TITLE
    from orchestrator.strict_json import read_json

    try:
        content = read_json(schema, _MOST_BYTES)
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("title") == SCHEMA_TITLE
