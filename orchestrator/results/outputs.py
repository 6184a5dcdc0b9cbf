"""Files that a user names for a result: a report, an export, a summary. None lies in a run folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.disk import whole_file, writing
from orchestrator.errors import UsageError
from orchestrator.results.names import is_run


def require_outside_runs(path: Path, option: str) -> None:
    """UsageError, which names the option, for a place in a run folder, which holds what was measured and nothing else."""
    run = next((folder for folder in (path.resolve(), *path.resolve().parents) if is_run(folder)), None)
    if run is not None:
        raise UsageError(
            f"{path} lies in the run folder {run.name}", hint=f"name a place outside of it: {option} {path.name}"
        )


def require_output(path: Path, option: str) -> None:
    """UsageError for a place that no file of ours may take: a run folder's, or what is no regular file."""
    require_outside_runs(path, option)
    if os.path.lexists(path) and not path.is_file():
        raise UsageError(f"{option} {path} is no regular file", hint=f"name a file after {option}")


@contextmanager
def output(path: Path, option: str, then: str = "write it again") -> Iterator[Path]:
    """Yield a temporary file that becomes `path` when the block ends well; what lies there is replaced.

    UsageError as `require_output`; MissingError for what the disk refuses.
    """
    require_output(path, option)
    with writing(path, then), whole_file(path) as partial:
        yield partial
