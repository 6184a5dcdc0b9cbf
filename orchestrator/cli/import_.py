"""Take in runs that were made elsewhere, verified first."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.choosing import AsJson, the_index
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Run folders (docs/history.md).")],
    as_json: AsJson = False,
) -> None:
    """Copy each into results/, where it is shown and read like other runs, and never counts as made here."""
    console.as_json = as_json
    found = [_folder(path) for path in paths]
    with the_index():
        pass  # they are in the index from here on
    console.emit({"imported": found})


def _folder(path: Path) -> dict[str, Any]:
    from orchestrator.history.importing import import_run

    made = import_run(WORKSPACE, path)
    if made.is_new:
        console.result(f"run {made.run}: {made.files} files as they were written, copied to {made.path}")
    remark = f"run {made.run}: {made.remark}" if made.remark else ""
    if remark and made.is_new:
        console.warning(remark)
    elif remark:
        console.result(remark)
    return {**asdict(made), "path": str(made.path)}
