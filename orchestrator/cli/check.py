"""Show whether a run is valid: each check, its verdict, its numbers, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep
from orchestrator.cli.shared_options import AsJson, Run

if TYPE_CHECKING:
    from orchestrator.findings.check_result import CheckResult

_EXAMPLES = 3
_INDENT = " " * 15
_STYLES = {"not applicable": "dim", "pass": "green", "cannot tell": "dim", "warn": "yellow", "fail": "red"}


def command(
    run: Run = "latest",
    everything: Annotated[bool, typer.Option("--all", help="Show what each check found in every cell.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the checks, and store them in the run folder anew; exit status 5 when one fails."""
    from orchestrator.checks import failed_names
    from orchestrator.errors import InvalidMeasurement
    from orchestrator.findings.check_result import checks_document, counts, in_words
    from orchestrator.report.groups import cell_names, groups
    from orchestrator.results.folder import RunFolder
    from orchestrator.wording.left_out import invalid_numbers

    console.as_json = as_json
    folder = RunFolder.open(run, root=WORKSPACE.results)
    summary = judged(folder)
    keep(folder, summary)
    console.emit(checks_document(summary.checks))
    names = cell_names(groups(summary), in_full=True)
    for name in dict.fromkeys(check.name for check in summary.checks):
        _print([check for check in summary.checks if check.name == name], names, everything=everything)
    console.result(in_words(counts(summary.checks)))
    if failed := failed_names(summary.checks):
        console.as_json = False  # stdout holds its one document already
        raise InvalidMeasurement(
            f"run {summary.run_id}: {', '.join(failed)} failed. {invalid_numbers(summary)}",
            hint="see above for what each check found and what to do; `--json` gives the numbers it used",
        )


def _print(results: list[CheckResult], names: dict[str, str], *, everything: bool) -> None:
    """One check on a line; below it the worst cells that did not pass, and what to do about them."""
    by_verdict = {verdict: [r for r in results if r.verdict == verdict] for verdict in reversed(_STYLES)}
    worst = next(verdict for verdict, found in by_verdict.items() if found)
    notable = [*by_verdict["fail"], *by_verdict["warn"], *by_verdict["cannot tell"]]
    of_run = len(results) == 1 and results[0].cell is None
    summary = results[0].explanation if of_run else _tally(by_verdict)
    console.result(f"{console.style(f'{worst:<14}', _STYLES[worst])} {results[0].name:<20} {summary}")
    shown = results if everything else notable[: 1 if worst == "cannot tell" else _EXAMPLES]
    if not of_run:
        for result in shown:
            where = names.get(result.cell, result.cell) if result.cell else "the run"
            console.result(f"{_INDENT}{where}: {result.explanation}")
    if len(shown) < len(notable):
        more = len(notable) - len(shown)
        console.result(f"{_INDENT}... and {more} more {'cell' if more == 1 else 'cells'}; --all shows every cell")
    for action in dict.fromkeys(r.action for r in shown if r.verdict in ("fail", "warn")):
        console.result(f"{_INDENT}-> {action}")


def _tally(by_verdict: dict[str, list[CheckResult]]) -> str:
    """How many cells got which verdict; one number where all got the same."""
    counts = [f"{len(found)} {verdict}" for verdict, found in by_verdict.items() if found]
    cells = sum(result.cell is not None for found in by_verdict.values() for result in found)
    if len(counts) > 1:
        return ", ".join(counts)
    if not cells:
        return f"all {sum(map(len, by_verdict.values()))}"  # of each placement, say
    return f"{'all ' if cells > 1 else ''}{cells} {'cell' if cells == 1 else 'cells'}"
