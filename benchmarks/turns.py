"""Turns against one measured phase a trial: the same stacks in the same wall time, alternating, on this machine.

`python -m benchmarks.turns --runs 5 [--neighbour]` prints, for each run, its wall time, the median half-width of its
intervals, and how many comparisons resolve 5 %. `--neighbour` uses half a CPU in bursts of 2 s beside them. Raw output stays
in `results/`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

_EXPERIMENT = "experiments/quickstart.yaml"
_RESOLVED = 0.05
DESIGNS: dict[str, tuple[str, ...]] = {
    "turns": (),
    "off": ("--set", "turn='off'"),
}
_BURST = "import time\nwhile True:\n end=time.monotonic()+1\n while time.monotonic()<end: pass\n time.sleep(1)\n"


@contextmanager
def neighbour(*, is_wanted: bool) -> Iterator[None]:
    """A program that computes for a second and rests for a second, pinned to no CPU."""
    if not is_wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", _BURST]) as program:
        try:
            yield
        finally:
            program.kill()


def half_widths(summary: dict[str, Any]) -> list[float]:
    """How far each comparison's interval of medians reaches from its ratio, as a share; infinite without an interval."""
    found = []
    for comparison in summary["comparisons"]:
        if comparison["statistic"] == "median" and not comparison["control"]:
            interval, ratio = comparison["interval"], comparison["ratio"]
            found.append((interval[1] / interval[0]) ** 0.5 - 1 if interval and ratio else float("inf"))
    return found


def run(design: Sequence[str]) -> tuple[float, list[float]]:
    """Seconds that a run took, and the half-widths of its intervals."""
    began_s = time.monotonic()
    command = [str(Path(sys.executable).with_name("orch")), "run", _EXPERIMENT, "--share-machine", "--json", *design]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    elapsed_s = time.monotonic() - began_s
    folder = Path(json.loads(ran.stdout)["folder"])
    return elapsed_s, half_widths(json.loads((folder / "summary.json").read_text(encoding="utf-8")))


def main() -> None:
    """Alternate both designs, and print a line for each run and one for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--neighbour", action="store_true")
    given = parser.parse_args()
    middle: dict[str, list[float]] = {name: [] for name in DESIGNS}
    with neighbour(is_wanted=given.neighbour):
        for number in range(given.runs):
            for name, design in list(DESIGNS.items())[:: 1 if number % 2 == 0 else -1]:
                elapsed_s, widths = run(design)
                middle[name].append(median(widths))
                resolved = sum(width <= _RESOLVED for width in widths)
                figures = f"half-width {median(widths):7.1%}, {resolved} of {len(widths)} within 5 %"
                sys.stdout.write(f"{name:6} {elapsed_s:6.0f} s, {figures}\n")
                sys.stdout.flush()
    for name, widths in middle.items():
        sys.stdout.write(f"{name:6} half-width of all runs {median(widths):.1%}\n")


if __name__ == "__main__":
    main()
