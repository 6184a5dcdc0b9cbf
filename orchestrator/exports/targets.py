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
    if str(path) == "-":
        raise UsageError(
            "an export is a file, and is not printed",
            hint="name one after --out; `orch report RUN --markdown -` prints a summary",
        )
    if is_dataset and os.path.lexists(path) and not (path / ABOUT).is_file():
        raise UsageError(f"{path} holds no export, and is not replaced", hint="name another folder with --out")
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists", hint=_REPLACE)


def upload(folder: Path, address: str, *, force: bool) -> None:
    """Copy a dataset of samples to a place of pyarrow's file systems (s3://, gs://), beside the runs that are there.

    UsageError for a place that is none, for keys in the address, and for a run that is there (unless `force`); MissingError
    for what the place refuses.
    """
    import pyarrow as pa
    from pyarrow import fs

    if "@" in address or "?" in address:
        raise UsageError("an address holds no user and no key", hint="keys come from the environment")
    with writing(Path(address), AGAIN):
        try:
            system, base = fs.FileSystem.from_uri(address)
        except (pa.ArrowException, ValueError) as error:
            raise UsageError(f"{address} is no place: {error}", hint="--out s3://bucket/prefix") from error
        runs = sorted(folder.glob("run=*"))
        there = [run.name for run in runs if system.get_file_info(f"{base}/{run.name}").type != fs.FileType.NotFound]
        if there and not force:
            raise UsageError(f"{address} holds {', '.join(there)}", hint=_REPLACE)
        for name in there:
            system.delete_dir(f"{base}/{name}")
        system.create_dir(base, recursive=True)
        fs.copy_files(str(folder), base, destination_filesystem=system)


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
