"""Keeps what analysis found beside the samples it was found in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.analysis.summary import RunSummary
    from orchestrator.results.folder import RunFolder


def keep(folder: RunFolder, summary: RunSummary) -> None:
    """Write `summary.json` and `checks.json` anew; a folder that cannot be written to is no error, and is said."""
    try:
        for name, document in summary.documents().items():
            folder.write_json(name, document)
    except OSError as error:
        console.warning(f"{folder.path}: summary.json and checks.json stay as they were: {error.strerror}")
