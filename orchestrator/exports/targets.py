"""Where an export is written: never over what lies there without being told to, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.disk import writing
from orchestrator.errors import UsageError

ABOUT = "_orch_export.json"
"""The file of a dataset that says what it is; readers of datasets pass over names that begin so."""

AGAIN = "export again"
_REPLACE = "name another place with --out, or replace it with --force"


def require_free(path: Path, *, is_dataset: bool, force: bool) -> None:
    """UsageError when an export may not be written to `path`.

    A file is replaced with `force` alone, and a folder only by a dataset, where an earlier one lies.
    """
    if is_dataset and os.path.lexists(path) and not (path / ABOUT).is_file():
        raise UsageError(f"{path} holds no export, and is not replaced", hint="name another folder with --out")
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists", hint=_REPLACE)


@contextmanager
def exported_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its place when the block ends well, and is removed when it does not.

    MissingError for what the disk refuses.
    """
    with writing(path, AGAIN):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:50]}.", dir=path.parent) as scratch:
            new = Path(scratch, "new")
            new.mkdir()
            yield new
            if path.is_dir():
                path.replace(Path(scratch, "replaced"))
            new.replace(path)
