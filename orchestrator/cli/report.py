"""Write a run's report again, from its stored data alone, or from what an earlier report of it carries.

Where asked for, its pictures, a summary in Markdown or a line of it, too.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli import completions
from orchestrator.cli.browser import Open, show
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep

if TYPE_CHECKING:
    from orchestrator.analysis.summary import RunSummary
    from orchestrator.report.dataset.run import Dataset

STDOUT = Path("-")


class Theme(StrEnum):
    """In which colours pictures are written."""

    light = "light"
    dark = "dark"
    both = "both"


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
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each chart there, too: SVG, and PNG where chromium is installed."),
    ] = None,
    theme: Annotated[
        Theme, typer.Option(help="Colours of those charts; of `both` each dark one is a file that ends in -dark.")
    ] = Theme.light,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary in Markdown, too; `-` prints it.")
    ] = None,
    line: Annotated[bool, typer.Option("--line", help="Print what was found in one line, for a chat.")] = False,
    scorecard: Annotated[bool, typer.Option("--scorecard", help="Print the scorecard of each run, too.")] = False,
    opens: Open = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print the answer of each run, every sentence and table.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Write one HTML file per run and print where it is; what analysis found is stored in the run folder anew.

    What was asked for with `--line` or `--markdown -` is the result alone; where the page is then stands on stderr.
    """
    from orchestrator.cli.answer import answer_lines
    from orchestrator.cli.scorecard import scorecard_lines
    from orchestrator.cli.short_answer import short_lines
    from orchestrator.errors import UsageError
    from orchestrator.report.dataset.block import is_page
    from orchestrator.report.dataset.made import page
    from orchestrator.report.page import write_page
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    if theme is not Theme.light and pictures is None:
        raise UsageError("--theme is of the charts that --pictures writes", hint="add --pictures FOLDER")
    for option, file in (("--out", out), ("--markdown", markdown if markdown != STDOUT else None)):
        if file is not None and len(runs) > 1:
            raise UsageError(
                f"{option} names one file, and {len(runs)} runs were asked for",
                hint=f"omit {option}" + (": each report then gets its own name under reports/" if file is out else ""),
            )
    if out is not None and out == markdown:
        raise UsageError("--out and --markdown name the same file", hint="name two")
    said = console.progress if line or markdown == STDOUT else console.result
    for name in runs:
        if not is_page(name):
            RunFolder.open(name, root=WORKSPACE.results)  # an unknown one is named before any report is written
    written, pages = [], []
    for name in runs:
        read = _of_page if is_page(name) else _of_run
        summary, dataset, path = read(name, out)
        path = write_page(page(dataset), path)
        pages.append(path)
        card = summary.scorecard
        entry: dict[str, Any] = {
            "run": summary.run_id,
            "report": str(path),
            "samples": {"inside": dataset.inside, "of": dataset.of},
            "scorecard": card and asdict(card),
        }
        said(str(path))
        shown = dataset.summary()
        if pictures is not None:
            of_run = pictures / dataset.about.run_id if len(runs) > 1 else pictures
            entry["pictures"] = [str(file) for file in _draw(shown, of_run, theme)]
        entry |= _in_short(shown, markdown, line=line)
        written.append(entry)
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        if full:
            for each in (*short_lines(summary, width=width, has_table=False), "", *answer_lines(summary, width=width)):
                console.result(each)
        if scorecard and card is not None:
            for each in scorecard_lines(card, width=width):
                console.result(each)
    console.emit({"reports": written})
    if opens:
        for path in pages:
            show(path)


def _of_run(run: str, out: Path | None) -> tuple[RunSummary, Dataset, Path]:
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
    return summary, packed(folder, summary=summary), path


def _of_page(name: str, out: Path | None) -> tuple[RunSummary, Dataset, Path]:
    """As `_of_run`, of a report: it lies apart from those of runs made here."""
    from orchestrator.report import default_path
    from orchestrator.report.dataset.block import read_page

    dataset = read_page(Path(name)).dataset
    summary = dataset.summary()
    return summary, dataset, out or default_path(summary, WORKSPACE.reports, dataset.digest()[:12])


def _draw(summary: RunSummary, folder: Path, theme: Theme) -> tuple[Path, ...]:
    from orchestrator.hosts import chromium
    from orchestrator.report.picture_files import write_pictures

    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    if theme is not Theme.both:
        themes = ("dark",) if theme is Theme.dark else ("light",)
    browser = chromium.find()
    draw = None if browser is None else partial(chromium.draw, browser)
    written = write_pictures(summary, folder, draw, console.live, themes)
    if browser is None:
        console.progress(f"no PNG: there is no chromium on the PATH (`{chromium.INSTALL}`); the SVG files are complete")
    for trouble in written.troubles:
        console.warning(trouble)
    console.progress(f"{folder}: {len(written.files)} pictures")
    if written.left_out:
        console.progress(f"{written.left_out}; the page has them, each with *Save picture*")
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
