"""The command line of a simulation, and where its tables lie: a CSV file each under docs/validation/."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

VALIDATION = Path(__file__).resolve().parents[1] / "docs" / "validation"
_RULE = "| ---"  # how the line below a table's head begins


def print_tables(prog: str, tables: Callable[[int, int], Iterator[str]], *, names: Sequence[str], runs: int) -> None:
    """Print the tables made of a number of runs and a seed; `--write` keeps each as the CSV file of its name.

    `tables`: their lines in Markdown, a blank line between two. `runs`: simulated runs of each row, by default.
    """
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines: list[str] = []
    for line in tables(options.runs, options.seed):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        for name, table in zip(names, "\n".join(lines).strip().split("\n\n"), strict=True):
            write(name, table.splitlines())


def write(name: str, lines: Iterable[str]) -> None:
    """Keep the lines of a table as the CSV file of that name."""
    (VALIDATION / f"{name}.csv").write_text(as_csv(lines), encoding="utf-8")


def as_csv(lines: Iterable[str]) -> str:
    """Return a Markdown table as CSV: shares without their sign, `before→after` without spaces."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in lines:
        if not line.startswith(_RULE):
            writer.writerow([_cell(cell.strip()) for cell in line.strip().strip("|").split(" | ")])
    return text.getvalue()


def _cell(text: str) -> str:
    return text.replace(" → ", "→").replace(" %", "%").replace(" ", " ")
