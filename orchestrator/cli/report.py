"""Write a run's report again, from its stored data alone; its pictures, a summary or a line of it, where asked for."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep

if TYPE_CHECKING:
    from orchestrator.analysis.summary import RunSummary

STDOUT = Path("-")


def command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run id, its beginning, a path, or `latest`.")],
    out: Annotated[Path | None, typer.Option(help="Write to this file instead (one run only).")] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each chart there, too: SVG, and PNG where chromium is installed."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary in Markdown, too; `-` prints it.")
    ] = None,
    line: Annotated[bool, typer.Option("--line", help="Print what was found in one line, for a chat.")] = False,
    scorecard: Annotated[bool, typer.Option("--scorecard", help="Print the scorecard of each run, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Write one HTML file per run and print where it is; what analysis found is stored in the run folder anew.

    What was asked for with `--line` or `--markdown -` is the result alone; where the page is then stands on stderr.
    """
    from orchestrator.cli.scorecard import scorecard_lines
    from orchestrator.errors import UsageError
    from orchestrator.report import default_path, write_report
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    for option, file in (("--out", out), ("--markdown", markdown if markdown != STDOUT else None)):
        if file is not None and len(runs) > 1:
            raise UsageError(
                f"{option} names one file, and {len(runs)} runs were asked for",
                hint=f"omit {option}" + (": each report then gets its own name under reports/" if file is out else ""),
            )
    if out is not None and out == markdown:
        raise UsageError("--out and --markdown name the same file", hint="name two")
    said = console.progress if line or markdown == STDOUT else console.result
    written = []
    for folder in [RunFolder.open(run, root=WORKSPACE.results) for run in runs]:
        summary = judged(folder)
        keep(folder, summary)
        path = write_report(summary, out or default_path(summary, WORKSPACE.reports, folder.origin()))
        if (why := folder.why_not_ours()) is not None:
            console.progress(f"{folder.path}: {why}; so its report is stored apart from those of runs made here")
        card = summary.scorecard
        entry: dict[str, Any] = {"run": summary.run_id, "report": str(path), "scorecard": card and asdict(card)}
        said(str(path))
        if pictures is not None:
            of_run = pictures / folder.path.name if len(runs) > 1 else pictures
            entry["pictures"] = [str(file) for file in _draw(summary, of_run)]
        entry |= _in_short(summary, markdown, line=line)
        written.append(entry)
        if scorecard and card is not None:
            for each in scorecard_lines(card, width=min(shutil.get_terminal_size((100, 24)).columns, 120)):
                console.result(each)
    console.emit({"reports": written})


def _draw(summary: RunSummary, folder: Path) -> tuple[Path, ...]:
    from orchestrator.hosts import chromium
    from orchestrator.report.picture_files import write_pictures

    browser = chromium.find()
    draw = None if browser is None else partial(chromium.draw, browser)
    written = write_pictures(summary, folder, draw, console.live)
    if browser is None:
        console.progress(f"no PNG: there is no chromium on the PATH (`{chromium.INSTALL}`); the SVG files are complete")
    for trouble in written.troubles:
        console.warning(trouble)
    console.progress(f"{folder}: {len(written.files)} pictures")
    return written.files


def _in_short(summary: RunSummary, file: Path | None, *, line: bool) -> dict[str, str]:
    from orchestrator.report.markdown import line as one_line
    from orchestrator.report.markdown import markdown
    from orchestrator.report.page import write_page

    found: dict[str, str] = {}
    if file is not None:
        text = markdown(summary)
        if file == STDOUT:
            found["markdown"] = text
            for each in text.splitlines():
                console.result(each.replace("\u00a0", " ").replace("\u202f", " "))
        else:
            found["markdown"] = str(write_page(text, file, option="--markdown"))
            console.progress(f"{file}: the summary in Markdown")
    if line:
        found["line"] = one_line(summary)
        console.result(found["line"].replace("\u00a0", " ").replace("\u202f", " "))
    return found
