"""Sign a finished run with your SSH key, so that others can tell that it is yours and unchanged."""

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
    key: Annotated[Path, typer.Option(help="The SSH key to sign with.")] = Path("~/.ssh/id_ed25519"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Write `manifest.json.sig` into the run folder, sign what its reports carry too, and print where that is."""
    from orchestrator.report.dataset import signed
    from orchestrator.report.dataset.made import packed
    from orchestrator.results import signature
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    folder = RunFolder.open(run, root=WORKSPACE.results)
    path = signature.sign(folder, key.expanduser())
    forms = [packed(folder, keep_names=keep_names) for keep_names in (False, True)]
    of_reports = signature.sign_statement(folder, key.expanduser(), signed.STATEMENT, signed.statement(*forms))
    console.result(str(path))
    console.result(str(of_reports))
    console.emit({"run": folder.id, "signature": str(path), "signature_of_reports": str(of_reports)})
