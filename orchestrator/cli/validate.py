"""Check experiment files without starting anything. Exit code 2 when one of them cannot be run as written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.errors import UsageError


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Experiments, YAML files.",
            show_default=False,
            autocompletion=completions.experiments,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Plan each file, and say what is wrong with those that cannot be planned; whether programs are built is no matter."""
    from orchestrator.experiment import make_plan
    from orchestrator.experiment.read.problems import ExperimentError

    console.as_json = as_json
    documents = []
    wrong = 0
    for file in files:
        try:
            plan = make_plan(file, needs_programs=False)
        except ExperimentError as error:
            wrong += 1
            for line in error.lines:
                console.progress(line)
            found = [
                {"source": p.mark.source.name, "line": p.mark.line, "column": p.mark.column, "message": p.message}
                for p in error.problems
            ]
            documents.append({"file": str(file), "valid": False, "problems": found})
        else:
            console.result(f"{file}: valid, {len(plan.cells):,} cells, {len(plan.trials):,} trials")
            documents.append({"file": str(file), "valid": True, "problems": []})
    console.emit({"files": documents})
    if wrong:
        raise typer.Exit(UsageError.exit_code)
