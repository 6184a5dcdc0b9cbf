"""Write a run's report again, from its stored data alone."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.browser import Open, show
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write to this file instead (one run only).")] = None,
    scorecard: Annotated[bool, typer.Option("--scorecard", help="Print the scorecard of each run, too.")] = False,
    opens: Open = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print the answer of each run, every sentence and table.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Write one HTML file per run and print where it is; what analysis found is stored in the run folder anew."""
    from orchestrator.analysis.answer import answer
    from orchestrator.cli.answer import answer_lines
    from orchestrator.cli.scorecard import scorecard_lines
    from orchestrator.cli.short_answer import short_lines
    from orchestrator.errors import UsageError
    from orchestrator.report import default_path, write_report
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if out is not None and len(runs) > 1:
        raise UsageError(
            f"--out names one file, and {len(runs)} runs were asked for",
            hint="omit --out: each report then gets its own name under reports/",
        )
    written, pages = [], []
    for folder in [RunFolder.open(run, root=WORKSPACE.results) for run in runs]:
        summary = judged(folder)
        keep(folder, summary)
        path = write_report(summary, out or default_path(summary, WORKSPACE.reports, folder.origin()))
        if (why := folder.why_not_ours()) is not None:
            console.progress(f"{folder.path}: {why}; so its report is stored apart from those of runs made here")
        pages.append(path)
        card = summary.scorecard
        written.append({"run": summary.run_id, "report": str(path), "scorecard": card and asdict(card)})
        console.result(str(path))
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        if full:
            found = answer(summary)
            for line in (*short_lines(found, width=width, has_table=False), "", *answer_lines(found, width=width)):
                console.result(line)
        if scorecard and card is not None:
            for line in scorecard_lines(card, width=width):
                console.result(line)
    console.emit({"reports": written})
    if opens:
        for page in pages:
            show(page)
