"""Where the report of a run is."""

from __future__ import annotations

from pathlib import Path

from orchestrator.errors import OrchError
from orchestrator.findings.summary import RunSummary
from orchestrator.report.groups import anchor
from orchestrator.results.folder import RunFolder

ELSEWHERE = "elsewhere"
_MOST_LETTERS = 60  # of a part of a file's name


def default_path(summary: RunSummary, reports: Path, origin: str = "") -> Path:
    """Return `<reports>/<name>-<date>-<run-id>.html`, with nothing in it that a path cannot carry.

    `origin` distinguishes what another report carries: its page is in `<reports>/elsewhere/`, where it replaces none but its
    own.
    """
    return path_of(summary.name, summary.started_at, summary.run_id, reports, origin)


def path_of(name: str, started_at: str, run_id: str, reports: Path, origin: str = "") -> Path:
    """Return `default_path` of a run of which that much is known."""
    parts = (anchor(name), anchor(started_at[:10]), anchor(run_id))
    if not origin:
        return reports / f"{'-'.join(parts)}.html"
    return reports / ELSEWHERE / f"{'-'.join(part[:_MOST_LETTERS] for part in parts)}-{origin}.html"


def report_of(folder: RunFolder, reports: Path) -> Path | None:
    """Return the report of that very run at its own place; None where there is none, or the run is unknown."""
    try:
        begin, name = folder.journal_state().begin, folder.plan().name
        path = path_of(name, str(begin["at"]), str(begin["run_id"]), reports)
    except (OrchError, KeyError, OSError):
        return None
    return path if path.is_file() and not path.is_symlink() else None
