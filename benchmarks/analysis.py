"""How long summary, intervals and checks take over 10 million samples in 200 trials, beside reading the Parquet alone.

    python benchmarks/analysis.py [--samples 10000000] [--trials 200]

Writes a synthetic run to a temporary folder, reads it once without any analysis, then summarises it in a fresh process
whose peak memory the kernel reports. Raw output goes to benchmarks/results/analysis.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STACKS = ("rest", "grpc", "http+cbor", "http+avro", "graphql", "socketio", "http+msgpack", "websocket", "tcp")
CELLS = len(STACKS) + 1  # and the control


def main() -> None:
    """Write, read, summarise, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--task", choices=("write", "read", "summarise"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        tasks = {"write": write, "read": read, "summarise": analyse}
        print(json.dumps(tasks[options.task](options)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        found = {task: child(task, folder, options) for task in ("write", "read", "summarise")}
    report(found, options)


def child(task: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One task in a process of its own, so that each has its own peak memory."""
    argv = [sys.executable, __file__, "--task", task, "--folder", str(folder)]
    argv += ["--samples", str(options.samples), "--trials", str(options.trials)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, env={**os.environ, "PYTHONPATH": path})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def write(options: argparse.Namespace) -> dict[str, Any]:
    """A clean synthetic run on disk."""
    from orchestrator.experiment.plan.plan import Load
    from tests.support.runs import a_plan, a_run, write_run

    blocks = options.trials // CELLS
    requests = options.samples // (blocks * CELLS)
    plan = a_plan(stacks=STACKS, controls=1, blocks=blocks, load=Load(concurrency=1, requests=requests))
    write_run(a_run(plan), options.folder)
    size = sum(path.stat().st_size for path in options.folder.rglob("*.parquet"))
    return {"parquet_bytes": size, "cells": len(plan.cells), "blocks": blocks, "requests": requests}


def read(options: argparse.Namespace) -> dict[str, Any]:
    """Every file's columns and digest, nothing else."""
    from orchestrator.evidence.run_evidence import COLUMNS
    from orchestrator.results.folder import RunFolder

    folder = RunFolder(options.folder)
    files = list(folder.manifest().files)
    began = time.perf_counter()
    rows = sum(folder.samples(file, COLUMNS)["sequence"].size for file in files)
    return {"seconds": time.perf_counter() - began, "rows": rows, **usage()}


def analyse(options: argparse.Namespace) -> dict[str, Any]:
    """The whole summary, and the checks' part of it: the same with no check in the table."""
    from orchestrator import checks, summarise
    from orchestrator.results.folder import RunFolder

    began = time.perf_counter()
    summary = summarise.summarise(RunFolder(options.folder))
    seconds = time.perf_counter() - began
    found = {"seconds": seconds, "checks": len(summary.checks), **usage()}
    summarise.CHECKS = checks.CHECKS = ()
    began = time.perf_counter()
    summarise.summarise(RunFolder(options.folder))
    return {**found, "seconds_without_checks": time.perf_counter() - began}


def usage() -> dict[str, float]:
    """CPU seconds and peak memory of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def report(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the numbers, and keep them."""
    reading, summary = found["read"], found["summarise"]
    of_checks = summary["seconds"] - summary["seconds_without_checks"]
    found |= {
        "samples": options.samples,
        "trials": options.trials,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "checks_s": of_checks,
        "checks_to_reading": of_checks / reading["seconds"],
    }
    print(
        f"{options.samples:,} samples in {options.trials} trials, {found['write']['parquet_bytes'] / 1e6:.0f} MB of Parquet"
    )
    print(f"reading alone, digests included    {reading['seconds']:6.2f} s")
    print(f"summary, intervals and all checks  {summary['seconds']:6.2f} s, peak {summary['peak_mb']:.0f} MB")
    print(f"of which checks                    {of_checks:6.2f} s, {found['checks_to_reading']:.2f} times the reading")
    target = ROOT / "benchmarks" / "results" / "analysis.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
