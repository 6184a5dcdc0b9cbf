"""Write a run's report again, from its stored data alone, or from what an earlier report of it carries."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.browser import Open, show
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep

if TYPE_CHECKING:
    from orchestrator.analysis.summary import RunSummary
    from orchestrator.report.dataset.run import Dataset


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run id, its beginning, a path, `latest`, or a report: FILE.html.",
            autocompletion=completions.runs,
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write to this file instead (one run only).")] = None,
    scorecard: Annotated[bool, typer.Option("--scorecard", help="Print the scorecard of each run, too.")] = False,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Leave names of hosts and users, addresses and paths as they are.")
    ] = False,
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
    from orchestrator.report.dataset.block import is_page
    from orchestrator.report.dataset.made import page
    from orchestrator.report.page import write_page
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if out is not None and len(runs) > 1:
        raise UsageError(
            f"--out names one file, and {len(runs)} runs were asked for",
            hint="omit --out: each report then gets its own name under reports/",
        )
    for name in runs:
        if not is_page(name):
            RunFolder.open(name, root=WORKSPACE.results)  # an unknown one is named before any report is written
    written, pages = [], []
    for name in runs:
        read = _of_page if is_page(name) else _of_run
        summary, dataset, path = read(name, out, keep_names=keep_names)
        path = write_page(page(dataset), path)
        pages.append(path)
        card = summary.scorecard
        samples = {"inside": dataset.inside, "of": dataset.of, "names_kept": dataset.about.names_kept}
        written.append(
            {"run": summary.run_id, "report": str(path), "samples": samples, "scorecard": card and asdict(card)}
        )
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
        for each in pages:
            show(each)


def _of_run(run: str, out: Path | None, *, keep_names: bool) -> tuple[RunSummary, Dataset, Path]:
    """The summary of a run folder, what its report carries, and where that goes."""
    from orchestrator.report import default_path
    from orchestrator.report.dataset.made import packed
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(run, root=WORKSPACE.results)
    summary = judged(folder)
    keep(folder, summary)
    path = out or default_path(summary, WORKSPACE.reports, folder.origin())
    if (why := folder.why_not_ours()) is not None:
        console.progress(f"{folder.path}: {why}; so its report is stored apart from those of runs made here")
    return summary, packed(folder, keep_names=keep_names, summary=summary), path


def _of_page(name: str, out: Path | None, *, keep_names: bool) -> tuple[RunSummary, Dataset, Path]:
    """As `_of_run`, of a report: it lies apart from those of runs made here."""
    from orchestrator.errors import UsageError
    from orchestrator.report import default_path
    from orchestrator.report.dataset.block import read_page

    dataset = read_page(Path(name)).dataset
    if keep_names and not dataset.about.names_kept:
        raise UsageError(
            f"{name} carries no names", hint="only the run folder has them: `orch report RUN --keep-names`"
        )
    summary = dataset.summary()
    origin = hashlib.sha256(dataset.core()).hexdigest()[:12]
    return summary, dataset, out or default_path(summary, WORKSPACE.reports, origin)
