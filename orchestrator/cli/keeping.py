"""Judges a stored run, says what a reader must know of the folder, and keeps what was found beside the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.analysis.summary import RunSummary
    from orchestrator.results.folder import RunFolder


def judged(folder: RunFolder) -> RunSummary:
    """The run's summary; what speaks against its manifest or its signature is a warning on the terminal too."""
    from orchestrator.analysis.summarise import summarise

    for remark in folder.remarks():
        console.warning(f"{folder.path}: {remark}")
    return summarise(folder)


def keep(folder: RunFolder, summary: RunSummary) -> None:
    """Write `summary.json` and `checks.json` again; a warning says when the folder cannot be written to.

    Nothing is written into a folder that was not made here.
    """
    if not folder.is_ours:
        return
    try:
        for name, document in summary.documents().items():
            folder.write_json(name, document)
    except OSError as error:
        console.warning(f"{folder.path}: summary.json and checks.json stay as they were: {error.strerror}")
