"""Stored runs in a notebook: `import orch; run = orch.load("latest")` (docs/reference/data.md).

The program itself is the package `orchestrator`; this one is what Python code of its users imports.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import __version__
from orchestrator.exports import notebook
from orchestrator.exports.notebook import Run, RunWarning
from orchestrator.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run", "RunWarning", "__version__", "load", "runs"]


def load(run: str | Path = "latest", folder: str | Path = ".") -> Run:
    """A run by its id, the beginning of its id, a path, or `latest`; UsageError when there is none, or several.

    `folder` is the one that `orch run` was called in: runs lie in `results/` below it.
    """
    return notebook.load(run, Workspace(Path(folder)).results)


def runs(folder: str | Path = ".") -> pd.DataFrame:
    """A row for each run of a folder, oldest first, without judging any.

    Columns: run, experiment, question, started_at (ISO 8601, UTC), state (complete, interrupted, running), trials (that were
    made), trouble (why a run cannot be read, else "").
    """
    return notebook.listed(Workspace(Path(folder)).results)
