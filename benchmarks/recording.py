"""What it costs a requester in a compiled language to record a sample: `python -m benchmarks.recording`.

From the root of the repository. A language that has a program for it records samples that nobody waited for, one after the
other. `rows`: two readings of the monotonic clock, and a row in the mapped file: the target is at most 50 ns. `books`:
these, and whatever else a requester does of a right reply until it makes its next request (the reply is compared with what
it should be, and counted), with one request in flight and with several. The least of the rounds is what it costs, as
whatever else runs on the machine only adds to it; the median stands beside it. So does reading the clock, which is the
host's.

The raw figures go to `benchmarks/results/recording.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told

MOST_NS = 50.0
SERVICES = Path(__file__).resolve().parents[1] / "services"


@dataclass(frozen=True)
class Program:
    """How a language's program is built and started, in its folder: `source` is what there must be, by `toolchain`."""

    source: str
    toolchain: str
    build: tuple[str, ...]
    start: tuple[str, ...]


PROGRAMS: Mapping[str, Program] = {
    "rust": Program("src/bin/recording.rs", "cargo", ("./build.sh", "recording"), ("build/recording",)),
    "go": Program("cmd/recording", "go", ("go", "build", "-o", "build/", "./cmd/recording"), ("build/recording",)),
}


def lacking(language: str, services: Path = SERVICES) -> str:
    """Why there is nothing to measure; empty where there is."""
    program = PROGRAMS[language]
    if not (services / language / program.source).exists():
        return f"it has no {program.source}"
    return "" if shutil.which(program.toolchain) else f"there is no {program.toolchain} on the PATH"


def figures(found: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """The least and the median of the rounds of each thing that was timed, ns for each sample."""
    timed = {"clock": found["clock"], "rows": found["rows"]}
    timed |= {f"books, {in_flight} in flight": each for in_flight, each in found["books"].items()}
    return {what: (min(each), statistics.median(each)) for what, each in timed.items()}


def lines(language: str, found: Mapping[str, Any]) -> list[str]:
    """A line for each thing that was timed; that of a row with its verdict."""
    told_of = []
    for what, (least, median) in figures(found).items():
        verdict = ("   ok" if least <= MOST_NS else "   ABOVE") if what == "rows" else ""
        told_of.append(f"{language:8}{what:26}{least:7.1f} ns (median {median:.1f}){verdict}")
    return told_of


def measured(language: str, arguments: Sequence[str]) -> dict[str, Any]:
    """What a language's program tells; CalledProcessError where it is not built, SystemExit where it does not end well."""
    program, folder = PROGRAMS[language], SERVICES / language
    subprocess.run(program.build, cwd=folder, stdout=sys.stderr, check=True)
    start = [str(folder / program.start[0]), *program.start[1:], *arguments]
    done = subprocess.run(start, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{language}: {program.start[0]} ended with {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print each language's figures and whether they meet the target, and store them; exit status 1 where some do not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recording", description=__doc__.split("\n")[0])
    parser.add_argument("--languages", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--samples", type=int, default=20_000, help="in a round")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    before = conditions()
    print(f"before: {told(before)}\n", flush=True)
    raw, missed = {}, []
    for language in options.languages:
        if why := lacking(language):
            print(f"{language}: not measured: {why}")
            continue
        raw[language] = measured(language, [str(options.samples), str(options.rounds)])
        print(*lines(language, raw[language]), sep="\n", flush=True)
        if figures(raw[language])["rows"][0] > MOST_NS:
            missed.append(language)
    content = {"before": before, "after": conditions(), "target_ns": MOST_NS, "languages": raw}
    print(f"\n{os.path.relpath(keep('recording', content))}")
    if missed or not raw:
        sys.exit(f"more than {MOST_NS:g} ns for a row: {', '.join(missed)}" if missed else "nothing was measured")


if __name__ == "__main__":
    main()
