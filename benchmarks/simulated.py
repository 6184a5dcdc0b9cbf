"""The command line of a simulation whose table stands in a page of the documentation."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path


def print_table(
    prog: str, table: Callable[[int, int], Iterator[str]], page: Path, *, between: tuple[str, str], runs: int
) -> None:
    """Print the lines that `table` makes of a number of runs and a seed; `--write` puts them into the page.

    `between`: the lines of the page around the table. `runs`: how many a row has, unless told.
    """
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [f"{options.runs:,} simulated runs a row, seed {options.seed}.", ""]
    for line in table(options.runs, options.seed):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        begin, end = between
        before, _, rest = page.read_text(encoding="utf-8").partition(begin)
        page.write_text("\n".join([f"{before}{begin}", *lines, f"{end}{rest.partition(end)[2]}"]), encoding="utf-8")
