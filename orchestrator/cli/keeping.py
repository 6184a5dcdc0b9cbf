"""Judges a stored run, says what a reader must know of the folder, and keeps what was found beside the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.console import console
from orchestrator.errors import MissingError

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary
    from orchestrator.results.folder import RunFolder


def judged(folder: RunFolder, *, is_modelled: bool = False) -> RunSummary:
    """The run's summary; a warning says that it is still in progress, or was interrupted.

    `is_modelled`: with the cost model whether the plan asked for it or not.
    """
    from orchestrator.measure.progress import how_unfinished
    from orchestrator.summarise import summarise

    summary = summarise(folder, is_modelled=is_modelled)
    if folder.is_in_progress:
        console.warning(f"run {folder.id} is still in progress: what follows is of the trials stored so far")
    elif left := how_unfinished(folder):
        resume = f"`orch run --resume {folder.id}` finishes it"
        console.warning(f"run {folder.id} was interrupted: {left}; {resume}")
    return summary


def keep(folder: RunFolder, summary: RunSummary) -> None:
    """Write `summary.json` and `checks.json` again; a warning says when the folder cannot be written to."""
    from orchestrator.wording.checks.sentences import documents

    try:
        for name, document in documents(summary).items():
            folder.write_json(name, document)
    except MissingError as error:
        console.warning(f"{folder.path}: summary.json and checks.json stay as they were: {error.message}")
