"""Parquet: a file of cells, or a dataset of samples in partitions by run and cell, as Hive lays them out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from orchestrator.exports import cells, samples
from orchestrator.exports.as_json import about_dataset
from orchestrator.exports.column import arrow_table
from orchestrator.exports.judged_run import JudgedRun
from orchestrator.exports.targets import ABOUT, exported_file, exported_folder

_PARTITIONS = ("run", "cell")


def write_summary(runs: Sequence[JudgedRun], path: Path) -> int:
    """One file with a row for each cell of each run; its metadata `orch_runs` says what the runs' checks found."""
    import pyarrow.parquet as pq

    rows = [row for run in runs for row in run.cells()]
    table = arrow_table(cells.COLUMNS, rows)
    about = json.dumps([run.about() for run in runs], allow_nan=False)
    table = table.replace_schema_metadata({"orch_runs": about})
    with exported_file(path) as partial, partial.open("wb") as file:  # pyarrow takes no path that is not UTF-8
        pq.write_table(table, file, compression="zstd")
    return len(rows)


def write_raw(runs: Sequence[JudgedRun], path: Path) -> int:
    """A folder `run=<id>/cell=<id>/part-<number>.parquet`, a file for each samples file; how many rows there are.

    Run and cell are the partitions, and no columns of the files. What the runs' checks found is in `_orch_export.json`.
    """
    import pyarrow.parquet as pq

    count, parts = 0, Counter[Path]()
    with exported_folder(path) as partial:
        for run in runs:
            for piece in samples.pieces(run.folder, run.summary):
                folder = partial / f"run={_in_path(run.summary.run_id)}" / f"cell={_in_path(piece.cell)}"
                folder.mkdir(parents=True, exist_ok=True)
                with (folder / f"part-{parts[folder]:05}.parquet").open("wb") as file:
                    pq.write_table(
                        piece.table.drop_columns(list(_PARTITIONS)),
                        file,
                        compression="zstd",
                        use_dictionary=[c.name for c in samples.COLUMNS if c.type == "text"],
                    )
                parts[folder] += 1
                count += piece.table.num_rows
        document = json.dumps(about_dataset(runs), indent=1, ensure_ascii=False, allow_nan=False)
        (partial / ABOUT).write_text(document + "\n", encoding="utf-8")
    return count


def _in_path(value: str) -> str:
    """A partition's value as a part of a path: whatever is not a letter, a digit or one of `_.-~` as its code."""
    return quote(value, safe="")
