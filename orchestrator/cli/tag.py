"""Tag a run, or remove tags; `orch runs --tag` finds it by them."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.choosing import AsJson
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    run: Annotated[
        str, typer.Argument(help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs)
    ],
    tags: Annotated[list[str], typer.Argument(metavar="TAG...", help="Words of letters, digits and . _ - / : +")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove these tags.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the tags that the run has then."""
    from orchestrator.history import noted
    from orchestrator.history.named import folder_of

    console.as_json = as_json
    name = folder_of(WORKSPACE, run).name
    found = noted.change_tags(WORKSPACE.notes, name, **{"remove" if remove else "add": tags})
    console.emit({"run": name, "tags": list(found.tags)})
    console.result(f"run {name}: {', '.join(found.tags) or 'no tags'}")
