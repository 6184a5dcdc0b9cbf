"""Judges a stored run, says what a reader must know of the folder, and keeps what was found beside the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary
    from orchestrator.results.folder import RunFolder


def judged_with_model(folder: RunFolder) -> RunSummary:
    """As `judged`, with the cost model whether the plan asked for it or not."""
    return judged(folder, is_modelled=True)


def judged(folder: RunFolder, *, is_modelled: bool = False) -> RunSummary:
    """The run's summary; a warning says that it is not complete."""
    from orchestrator.summarise import summarise

    summary = summarise(folder, is_modelled=is_modelled)
    if (why := _not_complete(folder)) is not None:
        console.warning(why)
    return summary


def _not_complete(folder: RunFolder) -> str | None:
    """That a run is still in progress, or was interrupted, as a sentence; None where it is complete."""
    from orchestrator.measure.progress import how_unfinished

    if folder.is_in_progress:
        return f"run {folder.id} is still in progress: what follows is of the trials stored so far"
    left = how_unfinished(folder)
    if left is None:
        return None
    return f"run {folder.id} was interrupted: {left.sentence()}; `orch run --resume {folder.id}` finishes it"


def keep(folder: RunFolder, summary: RunSummary) -> None:
    """Write `summary.json` and `checks.json` again; a warning says when the folder cannot be written to."""
    from orchestrator.errors import MissingError

    try:
        for name, document in summary.documents().items():
            folder.write_json(name, document)
    except (OSError, MissingError) as error:
        why = error.strerror if isinstance(error, OSError) else "the disk is full"
        console.warning(f"{folder.path}: summary.json and checks.json stay as they were: {why}")
