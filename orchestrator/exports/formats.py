"""The formats of an export: by name, by suffix, and who writes each."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.exports.judged_run import JudgedRun


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format: `has_raw` says whether it holds a row for each sample, `is_dataset` whether those make a folder."""

    name: str
    suffix: str
    has_raw: bool = True
    is_dataset: bool = False

    def write(self, runs: Sequence[JudgedRun], path: Path, *, raw: bool) -> int:
        """Write the runs to `path`, whole or not at all; how many rows that are (cells, or samples if `raw`).

        MissingError for what the disk refuses, UsageError for more than the format holds, InvalidMeasurement for a
        damaged run.
        """
        writer = importlib.import_module(f"orchestrator.exports.as_{self.name}")
        return cast("int", (writer.write_raw if raw else writer.write_summary)(runs, path))


FORMATS = {
    of.name: of
    for of in (
        Format(name="csv", suffix=".csv"),
        Format(name="json", suffix=".json"),
        Format(name="excel", suffix=".xlsx"),
        Format(name="html", suffix=".html", has_raw=False),
        Format(name="parquet", suffix=".parquet", is_dataset=True),
        Format(name="markdown", suffix=".md", has_raw=False),
    )
}


def chosen(name: str | None, out: Path | None, *, raw: bool) -> Format:
    """The format of that name, or else of the file's suffix; UsageError when there is none, or it holds no samples."""
    found = FORMATS.get(name or "")
    if name is None and out is not None:
        found = next((of for of in FORMATS.values() if of.suffix == out.suffix.lower()), None)
    if found is None:
        if name is None:
            unknown = "say in which format" if out is None else f"the name {out} does not say in which format"
            raise UsageError(unknown, hint=f"--format {' | '.join(FORMATS)}")
        by_suffix = next((of.name for of in FORMATS.values() if of.suffix == f".{name.lower()}"), None)
        hint = did_you_mean(name, FORMATS) if by_suffix is None else f"Did you mean {by_suffix}?"
        raise UsageError(f"no format {name!r}", hint=hint)
    if raw and not found.has_raw:
        several = " | ".join(of.name for of in FORMATS.values() if of.has_raw)
        raise UsageError(f"{found.name} holds no row for each sample", hint=f"--raw --format {several}")
    return found
