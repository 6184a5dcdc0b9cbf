"""How long each raw export of 1 million samples takes, and how much memory, beside judging the run alone.

    python benchmarks/exports.py [--samples 1000000] [--trials 200]

Writes a synthetic run to a temporary folder, then exports it in a fresh process for each format, whose peak memory the
kernel reports. Raw output goes to benchmarks/results/exports.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.analysis import usage, write  # noqa: E402 - where they lie is known now

WRITERS = ("parquet", "csv", "excel")


def main() -> None:
    """Write, judge, export, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--task", choices=("write", "judge", *WRITERS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        tasks = {"write": write, "judge": judge}
        print(json.dumps(tasks.get(options.task, export)(options)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        found = {task: child(task, folder, options) for task in ("write", "judge", *WRITERS)}
    report(found, options)


def child(task: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One task in a process of its own, so that each has its own peak memory."""
    argv = [sys.executable, __file__, "--task", task, "--folder", str(folder)]
    argv += ["--samples", str(options.samples), "--trials", str(options.trials)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def judge(options: argparse.Namespace) -> dict[str, Any]:
    """The summary that every export begins with, and nothing else."""
    from orchestrator.results.folder import RunFolder
    from orchestrator.summarise import summarise

    began = time.perf_counter()
    summarise(RunFolder(options.folder))
    return {"seconds": time.perf_counter() - began, **usage()}


def export(options: argparse.Namespace) -> dict[str, Any]:
    """One raw export, judging included."""
    from orchestrator.exports.cell_columns import JudgedRun
    from orchestrator.exports.writers import FORMATS
    from orchestrator.results.folder import RunFolder
    from orchestrator.summarise import summarise

    target = options.folder.parent / options.task
    began = time.perf_counter()
    folder = RunFolder(options.folder)
    rows = FORMATS[options.task].write([JudgedRun(folder=folder, summary=summarise(folder))], target, True)
    seconds = time.perf_counter() - began
    files = [target] if target.is_file() else list(target.rglob("*.parquet"))
    return {"seconds": seconds, "rows": rows, "bytes": sum(file.stat().st_size for file in files), **usage()}


def report(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the numbers, and keep them."""
    judging = found["judge"]
    found |= {
        "samples": options.samples,
        "trials": options.trials,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "to_judging": {name: found[name]["seconds"] / judging["seconds"] for name in WRITERS},
    }
    print(f"{found['parquet']['rows']:,} rows in {options.trials} trials; times include judging the run")
    print(
        f"judging alone  {judging['seconds']:7.2f} s, CPU {judging['cpu_s']:5.1f} s, peak {judging['peak_mb']:5.0f} MB"
    )
    for name in WRITERS:
        of = found[name]
        size = of["bytes"] / 1e6
        print(
            f"{name:<13}  {of['seconds']:7.2f} s, CPU {of['cpu_s']:5.1f} s, peak {of['peak_mb']:5.0f} MB, {size:6.0f} MB"
        )
    target = ROOT / "benchmarks" / "results" / "exports.json"
    target.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
