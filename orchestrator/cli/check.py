"""Judge a run's validity: every check with its verdict, its numbers, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.analysis.summary import CheckResult

_EXAMPLES = 3
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
    for name in dict.fromkeys(check.name for check in summary.checks):
        _print([check for check in summary.checks if check.name == name], everything=everything)
    if failed := failed_names(summary.checks):
        console.as_json = False  # stdout holds its one document already
        raise InvalidMeasurement(
            f"run {summary.run_id}: {', '.join(failed)} failed; its numbers must not be believed",
            hint="what each check found and what to do stands above; `--json` gives the numbers it used",
        )


def _print(results: list[CheckResult], *, everything: bool) -> None:
    """One check: its worst verdict, how often it said what, and the cells where it did not pass."""
    by_verdict = {verdict: [r for r in results if r.verdict == verdict] for verdict in reversed(_STYLES)}
    worst = next(verdict for verdict, found in by_verdict.items() if found)
    tally = ", ".join(f"{len(found)} {verdict}" for verdict, found in by_verdict.items() if found)
    console.result(f"{console.style(f'{worst:<11}', _STYLES[worst])} {results[0].name:<22} {tally}")
    told = [*by_verdict["fail"], *by_verdict["warn"]]
    shown = results if everything else told[: max(_EXAMPLES, len(by_verdict["fail"]))]
    for result in shown:
        console.result(f"            {result.cell or 'run'}: {result.explanation}")
    for action in dict.fromkeys(result.action for result in shown if result.verdict != "pass"):
        console.result(f"            -> {action}")
    if len(shown) < len(told):
        console.result(f"            ... and {len(told) - len(shown)} cells more; --all shows them")
