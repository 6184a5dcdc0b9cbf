"""The verbs that show one run: its result, or its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep
from orchestrator.cli.shared_options import AsJson, Run
from orchestrator.cli.tables import coloured, table
from orchestrator.errors import InvalidMeasurement
from orchestrator.quantities import count

if TYPE_CHECKING:
    from orchestrator.findings.check_result import CheckResult

_EXAMPLES = 3
_STYLES = {"not applicable": "dim", "pass": "green", "cannot tell": "dim", "warn": "yellow", "fail": "red"}


def show(
    run: Run = "latest",
    full: Annotated[bool, typer.Option("--full", help="Print every sentence and table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the result of a run: the answer and its figures, as `orch run` ends with it."""
    from orchestrator.cli.answer import result_lines
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    summary = judged(RunFolder.open(run, root=WORKSPACE.results))
    console.lines(result_lines(summary, is_full=full))
    console.emit(summary.document())


def check(
    run: Run = "latest",
    everything: Annotated[bool, typer.Option("--all", help="Show what each check found in every cell.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show whether a run is valid: each check, its verdict, its numbers, and what to do. Exit 5 when one fails.

    The checks are stored in the run folder anew.
    """
    from orchestrator.checks import failed_names
    from orchestrator.report.groups import cell_names, groups
    from orchestrator.results.folder import RunFolder
    from orchestrator.wording.checks.sentences import document
    from orchestrator.wording.left_out import invalid_numbers, verdicts

    console.as_json = as_json
    folder = RunFolder.open(run, root=WORKSPACE.results)
    summary = judged(folder)
    keep(folder, summary)
    console.emit(document(summary.checks))
    names = cell_names(groups(summary), in_full=True)
    rows = [
        row
        for name in dict.fromkeys(check.name for check in summary.checks)
        for row in _rows([check for check in summary.checks if check.name == name], names, everything=everything)
    ]
    console.lines(coloured(table(("", "", ""), rows), _STYLES))
    console.result(verdicts(summary.checks))
    if failed := failed_names(summary.checks):
        raise InvalidMeasurement(
            f"run {summary.run.id}: {', '.join(failed)} failed. {invalid_numbers(summary)}",
            hint="see above for what each check found and what to do; `--json` gives the numbers it used",
        )


def _rows(results: list[CheckResult], names: dict[str, str], *, everything: bool) -> Iterator[tuple[str, str, str]]:
    """Yield verdict, name and text of a check; then the worst cells that did not pass, and what to do about them."""
    from orchestrator.wording.checks.sentences import action, explanation

    by_verdict = {verdict: [r for r in results if r.verdict == verdict] for verdict in reversed(_STYLES)}
    worst = next(verdict for verdict, group in by_verdict.items() if group)
    notable = [*by_verdict["fail"], *by_verdict["warn"], *by_verdict["cannot tell"]]
    is_of_run = len(results) == 1 and results[0].cell is None
    yield worst, results[0].name, explanation(results[0]) if is_of_run else _tally(by_verdict)
    shown = results if everything else notable[: 1 if worst == "cannot tell" else _EXAMPLES]
    if not is_of_run:
        for result in shown:
            where = names.get(result.cell, result.cell) if result.cell else "the run"
            yield "", "", f"{where}: {explanation(result)}"
    if (more := len(notable) - len(shown)) > 0:
        yield "", "", f"... and {count(more, 'more cell')}; --all shows every cell"
    for advice in dict.fromkeys(action(r) for r in shown if r.verdict in ("fail", "warn")):
        yield "", "", f"-> {advice}"


def _tally(by_verdict: dict[str, list[CheckResult]]) -> str:
    """How many cells got which verdict; one number where all got the same."""
    counts = [f"{len(results)} {verdict}" for verdict, results in by_verdict.items() if results]
    cells = sum(result.cell is not None for results in by_verdict.values() for result in results)
    if len(counts) > 1:
        return ", ".join(counts)
    if not cells:
        return f"all {sum(map(len, by_verdict.values()))}"  # of each placement, say
    return f"{'all ' if cells > 1 else ''}{cells} {'cell' if cells == 1 else 'cells'}"
