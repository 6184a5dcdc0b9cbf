"""Judge a run's validity: every check with its verdict, its numbers, and what to do."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.console import console

_STYLES = {"pass": "green", "cannot tell": "dim", "warn": "yellow", "fail": "red"}


def command(
    run: Annotated[str, typer.Argument(help="Run id, its beginning, a path, or `latest`.")] = "latest",
    everything: Annotated[bool, typer.Option("--all", help="Show what passed in each cell, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print the checks; exit status 5 when one fails."""
    from orchestrator.analysis.checks import checks_document, failed_names
    from orchestrator.analysis.summarise import summarise
    from orchestrator.errors import InvalidMeasurement
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    summary = summarise(RunFolder.open(run))
    console.emit(checks_document(summary.checks))
    names = dict.fromkeys(check.name for check in summary.checks)
    for name in names:
        results = [check for check in summary.checks if check.name == name]
        counts = {verdict: sum(1 for r in results if r.verdict == verdict) for verdict in reversed(_STYLES)}
        worst = next(verdict for verdict, count in counts.items() if count)
        tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        console.result(f"{console.style(f'{worst:<11}', _STYLES[worst])} {name:<22} {tally}")
        for result in results:
            if everything or result.verdict in ("warn", "fail"):
                console.result(f"            {result.cell or 'run'}: {result.explanation}")
                if result.verdict != "pass":
                    console.result(f"            -> {result.action}")
    if failed := failed_names(summary.checks):
        console.as_json = False  # stdout holds its one document already
        raise InvalidMeasurement(
            f"run {summary.run_id}: {', '.join(failed)} failed; its numbers must not be believed",
            hint="what each check found and what to do stands above; `--json` gives the numbers it used",
        )
