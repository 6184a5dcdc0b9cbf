"""The verb `report`: a run as one HTML file, and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.browser import Open, show
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged, keep
from orchestrator.cli.shared_options import AsJson, Runs
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary

STDOUT = Path("-")


def report(
    runs: Runs,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead (one run only).")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary in Markdown, too; `-` prints it.")
    ] = None,
    opens: Open = False,
    as_json: AsJson = False,
) -> None:
    """Write a run's report again, from its stored data.

    What analysis finds is stored in the run folder anew. With `--markdown -` that alone is on stdout, and the page's path on
    stderr.
    """
    from orchestrator.report import default_path, render
    from orchestrator.report.page import write_page
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    _require_sense(runs, out, markdown)
    folders = [RunFolder.open(name, root=WORKSPACE.results) for name in runs]
    written, pages = [], []
    for folder in folders:
        summary = judged(folder)
        keep(folder, summary)
        pages.append(write_page(render(summary), out or default_path(summary, WORKSPACE.reports)))
        (console.progress if markdown == STDOUT else console.result)(str(pages[-1]))
        entry: dict[str, Any] = {"run": summary.run_id, "report": str(pages[-1])}
        written.append(entry | _in_short(summary, markdown))
    console.emit({"reports": written})
    if opens:
        for path in pages:
            show(path)


def _require_sense(runs: Sequence[str], out: Path | None, markdown: Path | None) -> None:
    """UsageError for options that contradict each other."""
    for option, file in (("--out", out), ("--markdown", markdown if markdown != STDOUT else None)):
        if file is not None and len(runs) > 1:
            raise UsageError(
                f"{option} names one file, and {len(runs)} runs were asked for",
                hint=f"omit {option}" + (": each report then gets its own name under reports/" if file is out else ""),
            )
    if out is not None and out == markdown:
        raise UsageError("--out and --markdown name the same file", hint="name two")


def _in_short(summary: RunSummary, file: Path | None) -> dict[str, str]:
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
    return found
