"""The verb `report`: a run as one HTML file, as pictures, or in Markdown."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep
from orchestrator.cli.shared_options import AsJson, RunOrReport
from orchestrator.errors import MissingError, UsageError

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary

STDOUT = Path("-")


def report(
    run: RunOrReport,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead.")] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each chart there, too, as SVG and PNG; needs chromium.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary in Markdown, too; `-` prints it.")
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="Put all samples inside, so that others can verify its figures.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run's report again, from its stored data, or from the samples inside an earlier report of it.

    What analysis finds is stored in the run folder anew. With `--markdown -` that alone is on stdout, and the page's path on
    stderr.
    """
    from orchestrator.report import default_path
    from orchestrator.report.carried_run import is_page
    from orchestrator.report.page import write_page

    console.as_json = as_json
    if out is not None and out == markdown:
        raise UsageError("--out and --markdown name the same file", hint="name two")
    browser = _browser() if pictures is not None else ""
    summary, text = _of_page(Path(run)) if is_page(run) else _of_run(run, has_samples=samples)
    page = write_page(text, out or default_path(summary, WORKSPACE.reports))
    (console.progress if markdown == STDOUT else console.result)(str(page))
    entry: dict[str, Any] = {"run": summary.run.id, "report": str(page)}
    if pictures is not None:
        entry["pictures"] = [str(file) for file in _draw(summary, pictures, browser)]
    console.emit(entry | _in_short(summary, markdown))


def _of_run(run: str, *, has_samples: bool) -> tuple[RunSummary, str]:
    from orchestrator.report import render
    from orchestrator.report.carried_run import page_with_run
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(run, root=WORKSPACE.results)
    if has_samples and folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="leave --samples out until it has ended")
    summary = judged(folder)
    keep(folder, summary)
    return summary, page_with_run(folder, summary) if has_samples else render(summary)


def _of_page(page: Path) -> tuple[RunSummary, str]:
    from orchestrator.report.carried_run import carried, page_with_run
    from orchestrator.summarise import summarise

    with carried(page) as run:
        summary = summarise(run)
        return summary, page_with_run(run, summary)


def _draw(summary: RunSummary, folder: Path, browser: str) -> tuple[Path, ...]:
    from orchestrator.hosts import chromium
    from orchestrator.report.render import write_pictures

    files = write_pictures(summary, folder, partial(chromium.browse, browser))
    console.progress(f"{folder}: {len(files)} pictures")
    return files


def _browser() -> str:
    from orchestrator.hosts import chromium

    if (program := chromium.find()) is None:
        raise MissingError(
            "--pictures draws with chromium, and there is none on the PATH",
            hint=f"{chromium.INSTALL}, or leave --pictures out and save pictures from the page",
        )
    return program


def _in_short(summary: RunSummary, file: Path | None) -> dict[str, str]:
    from orchestrator.report.markdown import markdown
    from orchestrator.report.page import write_page

    entry: dict[str, str] = {}
    if file is not None:
        text = markdown(summary)
        if file == STDOUT:
            entry["markdown"] = text
            for each in text.splitlines():
                console.result(each.replace("\u00a0", " ").replace("\u202f", " "))
        else:
            entry["markdown"] = str(write_page(text, file))
            console.progress(f"{file}: the summary in Markdown")
    return entry
