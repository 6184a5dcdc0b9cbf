"""Take in runs that were made elsewhere, verified first, and raw files of request and response stamps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.choosing import AsJson, the_index
from orchestrator.cli.console import console, plain
from orchestrator.cli.here import WORKSPACE


def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Run folders, or JSON files of stamps (docs/history.md).")
    ],
    as_json: AsJson = False,
) -> None:
    """Copy each into results/, where it is shown and read like other runs, and never counts as made here."""
    console.as_json = as_json
    found = [_folder(path) if path.is_dir() else _file(path) for path in paths]
    with the_index():
        pass  # they are in the index from here on
    console.emit({"imported": found})


def _folder(path: Path) -> dict[str, Any]:
    from orchestrator.history.importing import import_run

    made = import_run(WORKSPACE, path)
    if made.is_new:
        console.result(f"run {made.run}: {made.files} files as they were written, copied to {made.path}")
    remark = f"run {made.run}: {made.remark}" if made.remark else ""
    if remark and made.is_new:
        console.warning(remark)
    elif remark:
        console.result(remark)
    return {**asdict(made), "path": str(made.path), "kind": "run"}


def _file(path: Path) -> dict[str, Any]:
    from orchestrator.analysis import words
    from orchestrator.errors import UsageError
    from orchestrator.history.imported import import_stamps, read_record, sentence

    if path.suffix.lower() in (".html", ".htm") and path.is_file():
        raise UsageError(
            f"{path} is a page: run folders and files of stamps are imported",
            hint=f"a report is read where it lies: `orch report {path}`, `orch verify`, `orch merge`",
        )
    target, found = import_stamps(WORKSPACE, path)
    console.result(f"{path}: {sentence(found)}")
    for cell in read_record(target).cells:
        median = "" if cell.median is None else f", median {words.ms(cell.median)}"
        p99 = "" if cell.p99 is None else f", p99 {words.ms(cell.p99)}"
        console.result(f"  {plain(cell.label)}: {words.count(cell.requests, 'latency', 'latencies')}{median}{p99}")
    console.result(f"kept in {target}; no floor was measured beside these, and nothing is compared with them")
    return {"run": target.name, "path": str(target), "kind": "imported", **found.counted()}
