"""A run's summary as one HTML file: rendered, written, and where it lies."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_to_bytes

from orchestrator.disk import output
from orchestrator.errors import InvalidMeasurement, OrchError
from orchestrator.findings.summary import RunSummary
from orchestrator.report.check_groups import marks
from orchestrator.report.groups import anchor
from orchestrator.report.page import render_page, write_page
from orchestrator.report.view import Report
from orchestrator.results.folder import RunFolder


def write_report(summary: RunSummary, path: Path) -> Path:
    """Write a report without its samples to `path`, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render(summary), path)


def render(summary: RunSummary, samples_inside: int = 0) -> str:
    """Return the report's HTML; the same summary gives the same text."""
    return render_page(
        "report.html",
        title=f"{summary.run.name} · {summary.run.id}",
        every_page=marks(summary),
        report=Report(summary=summary, samples_inside=samples_inside),
    )


def default_path(summary: RunSummary, reports: Path) -> Path:
    """Return `<reports>/<name>-<date>-<run-id>.html`, with nothing in it that a path cannot carry."""
    return path_of(summary.run.name, summary.run.started_at, summary.run.id, reports)


def path_of(name: str, started_at: str, run_id: str, reports: Path) -> Path:
    """Return `default_path` of a run by its name, its start and its id."""
    return reports / f"{'-'.join((anchor(name), anchor(started_at[:10]), anchor(run_id)))}.html"


def report_of(folder: RunFolder, reports: Path) -> Path | None:
    """Return the report of that very run at its own place; None where there is none, or the run is unknown."""
    try:
        begin, name = folder.journal_state().begin, folder.plan().name
        path = path_of(name, str(begin["at"]), str(begin["run_id"]), reports)
    except (OrchError, KeyError, OSError):
        return None
    return path if path.is_file() and not path.is_symlink() else None


# ---- pictures as files of their own

_CHART = 'class="chart"'
_LINK = re.compile(r'<a class="picture" download="([a-z0-9-]+)\.(svg|png)" href="data:image/[^,"]*?(;base64)?,([^"]*)"')


def write_pictures(summary: RunSummary, folder: Path, browse: Callable[[str], str]) -> tuple[Path, ...]:
    """Write every picture into `folder`, which is made; files of the same names are replaced.

    `browse` opens an address and returns the document as its script left it. Errors as `disk.output`;
    InvalidMeasurement when the browser drew less than it was given.
    """
    text = render(summary)
    with tempfile.TemporaryDirectory(prefix="orch-pictures-") as place:
        page = Path(place) / "report.html"
        page.write_text(text, encoding="utf-8")
        links = _LINK.findall(browse(f"{page.as_uri()}?theme=light&pictures"))
    if len(links) != 2 * text.count(_CHART):
        raise InvalidMeasurement(
            f"the browser drew {len(links)} of {2 * text.count(_CHART)} pictures",
            hint="try again, or save them from the page",
        )
    for name, ending, is_base64, content in links:
        with output(folder / f"{name}.{ending}", "draw them again") as partial:
            partial.write_bytes(base64.b64decode(content) if is_base64 else unquote_to_bytes(content))
    return tuple(folder / f"{name}.{ending}" for name, ending, *_ in links)
