"""The verb `export`: runs as files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.shared_options import AsJson, Runs
from orchestrator.errors import UsageError


def export(
    runs: Runs,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        typer.Option(help="csv, json, excel, parquet or markdown; by default, as the name after --out ends."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw/--summary", help="A row for each sample, or (by default) one for each cell.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write to this file (or folder) instead of exports/.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what an earlier export wrote there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write runs as CSV, JSON, Excel, Parquet or Markdown.

    All runs go into one file; docs/reference/data.md lists its columns.
    """
    from orchestrator.exports.cell_columns import JudgedRun, file_name
    from orchestrator.exports.targets import require_free
    from orchestrator.exports.writers import chosen
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    form = chosen(format, out, raw=raw)
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    is_dataset = raw and form.is_dataset
    if out is not None:
        require_free(out, is_dataset=is_dataset, force=force)
    judged_runs = [JudgedRun(folder=folder, summary=judged(folder)) for folder in folders]
    if len({run.summary.run.id for run in judged_runs}) < len(judged_runs):
        raise UsageError("a run is named twice: each of its rows would be there twice", hint="name each run once")
    for run in judged_runs:
        if invalid := run.about()["invalid"]:
            console.warning(f"run {run.summary.run.id}: {invalid}")
    name = f"{file_name(judged_runs)}{'-raw' if raw else ''}{'' if is_dataset else form.suffix}"
    path = out or WORKSPACE.exports / name
    require_free(path, is_dataset=is_dataset, force=force)
    rows = form.write(judged_runs, path, raw)
    console.result(str(path))
    console.emit(
        {
            "export": str(path),
            "format": form.name,
            "of": "samples" if raw else "cells",
            "rows": rows,
            "runs": [run.about() for run in judged_runs],
        }
    )
