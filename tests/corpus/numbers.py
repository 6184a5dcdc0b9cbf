"""Every figure, interval, standing and check verdict of the stored runs, held against what was written down before.

`python -m tests.corpus.numbers` compares (`make corpus`), `--write` writes them down anew, to be read as a diff.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.saturation.find import QUESTION as SATURATION
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.questions.until.find import QUESTION as UNTIL
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise

HERE = Path(__file__).parent
RUNS = HERE / "runs"
_PACKED = ".tar.xz"
CLOSE = 1e-9
"""Relative difference up to which two numbers are the same: sums may be made in another order."""

_COMPARED: Mapping[str, Callable[[RunSummary], Any]] = {
    "comparisons": lambda summary: summary.comparisons,
    "costs": lambda summary: summary.costs,
    "spreads": STABILITY.of,
}
_PARTS: Mapping[str, Callable[[RunSummary], Any]] = {
    "floors": lambda summary: summary.floors,
    "found_rates": lambda summary: CAPACITY.of(summary).rates,
    "rate_comparisons": lambda summary: CAPACITY.of(summary).comparisons,
    "saturation": SATURATION.of,
    "curves": AXES.of,
    "links": DISTANCE.of,
    "stopped": UNTIL.of,
    "prediction": PREDICTION.of,
}
_BULKY = {"strip", "curve", "trials"}
"""What charts are drawn from: made of the same samples as the figures, and too long for a diff."""


def numbers(summary: RunSummary) -> dict[str, Any]:
    """Return the numbers of a run, by part and by name."""
    return {
        "cells": {cell.id: _leaves(cell) for cell in summary.cells},
        **{
            name: {
                f"{c.cell} / {c.reference_cell} by {c.statistic}": {
                    "ratio": c.ratio,
                    "interval": list(c.interval) if c.interval else None,
                    "standing": c.standing,
                }
                for c in read(summary)
            }
            for name, read in _COMPARED.items()
        },
        "checks": {f"{check.name} of {check.cell or 'the run'}": check.verdict for check in summary.checks},
        **{name: _leaves(read(summary)) for name, read in _PARTS.items()},
    }


def _leaves(value: Any) -> Any:
    """Return the numbers in a value, in its own shape; None for whatever holds none."""
    if isinstance(value, bool | int | float):
        return value
    if is_dataclass(value):
        items = {f.name: _leaves(getattr(value, f.name)) for f in fields(value) if f.name not in _BULKY}
    elif isinstance(value, Mapping):
        items = {str(key): _leaves(item) for key, item in value.items()}
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        rows = [_leaves(item) for item in value]
        return rows if any(row is not None for row in rows) else None
    else:
        return None
    return {key: item for key, item in items.items() if item is not None} or None


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield each place in which two sets of numbers differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from differences(before.get(key), after.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (first, second) in enumerate(zip(before, after, strict=True)):
            yield from differences(first, second, f"{place}/{index}")
    elif isinstance(before, float | int) and isinstance(after, float | int):
        if not (math.isclose(before, after, rel_tol=CLOSE, abs_tol=1e-15) or (before != before and after != after)):
            yield f"{place}: {before} was written down, {after} computed"
    elif before != after:
        yield f"{place}: {_short(before)} was written down, {_short(after)} computed"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def names() -> list[str]:
    """Return the names of the stored runs."""
    return sorted(path.name.removesuffix(_PACKED) for path in RUNS.glob(f"*{_PACKED}"))


def computed(name: str) -> dict[str, Any]:
    """Return the numbers that today's code makes of a stored run."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(RUNS / f"{name}{_PACKED}") as packed:
            packed.extractall(folder, filter="data")
        document: dict[str, Any] = json.loads(json.dumps(numbers(summarise(RunFolder.open(Path(folder) / name)))))
    return document


def stored(name: str) -> dict[str, Any]:
    """Return the numbers that were written down for a stored run."""
    document: dict[str, Any] = json.loads((HERE / "numbers" / f"{name}.json").read_text())
    return document


def main() -> int:
    """Compare all runs and print what differs, or write the numbers down anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the numbers down anew")
    is_written = parser.parse_args().write
    differing = 0
    for name in names():
        if is_written:
            text = json.dumps(computed(name), indent=1, sort_keys=True)
            (HERE / "numbers" / f"{name}.json").write_text(f"{text}\n")
            continue
        lines = list(differences(stored(name), computed(name)))
        differing += len(lines)
        sys.stdout.write(f"{name}: {len(lines) or 'no'} differences\n")
        for text in lines[:20]:
            sys.stdout.write(f"  {text}\n")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
