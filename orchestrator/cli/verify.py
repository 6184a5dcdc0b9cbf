"""Hold a stored run against what was written down when it was made: every file that a figure rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    run: Annotated[
        str, typer.Argument(help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs)
    ] = "latest",
    signers: Annotated[
        Path | None, typer.Option(help="Check the signature too: a file of allowed signers, as ssh-keygen(1) has it.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who must have signed it: a name in that file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print what was verified; exit status 5 when a file is missing or not as it was written."""
    from orchestrator.errors import UsageError
    from orchestrator.results import signature, verification
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if (signers is None) != (by is None):
        raise UsageError("--signers and --by belong together", hint="--signers allowed_signers --by name@example.org")
    folder = RunFolder.open(run, root=WORKSPACE.results)
    files = verification.verify(folder)
    if signers is not None and by is not None:
        signature.verify(folder, signers, by)
    signed = f", signed by {by}" if by else ""
    state = folder.manifest().state
    unfinished = "" if state == "complete" else f" (unfinished: {state})"
    console.result(f"run {folder.id}{unfinished}: {len(files)} files as they were written{signed}")
    console.emit({"run": folder.id, "state": state, "files": list(files), "signed_by": by})
