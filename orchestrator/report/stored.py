"""Where the report of a run lies that was written before."""

from __future__ import annotations

from pathlib import Path

from orchestrator.errors import OrchError
from orchestrator.report.render import path_of
from orchestrator.results.folder import RunFolder


def report_of(folder: RunFolder, reports: Path) -> Path | None:
    """The report of that very run, where one was written to its own place; None for a run that does not say what it is."""
    try:
        begin, name = folder.journal_state().begin, folder.plan().name
        path = path_of(name, str(begin["at"]), str(begin["run_id"]), reports, folder.origin())
    except (OrchError, KeyError, OSError):
        return None
    return path if path.is_file() and not path.is_symlink() else None
