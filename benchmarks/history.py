"""How long `orch runs` takes where 5,000 runs are: `python -m benchmarks.history`, from the root of the repository.

It makes a workspace with 5,000 run folders (their files are there, and empty) and an index that is up to date with them, as
many cells in it as a small experiment has, and then calls `orch runs` as a person does: the folders are looked at, none is
read. The target is 0.5 s of CPU.
Beside it stand the parts, the look at the folders and the query, and `orch --help`. Raw output goes to
`benchmarks/results/history.json`.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from orchestrator.findings.condition import Condition
from orchestrator.history import index, keep
from orchestrator.history.record import CellRecord, Evidence, Filters, RunRecord
from orchestrator.workspace import Workspace

RUNS, CELLS, CALLS = 5_000, 6, 7
TARGET_S = 0.5
ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "history.json"
FIRST = datetime(2025, 1, 1, tzinfo=UTC)


def main() -> None:
    """Make the workspace, call, and say how long that took."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch))
        fill(workspace)
        listings = [spent(lambda: call("runs", folder=workspace.root)) for _ in range(CALLS)]
        filtered = [spent(lambda: call("runs", "--find", "s3", folder=workspace.root)) for _ in range(CALLS)]
        looks = [spent(lambda: keep.folders(workspace)) for _ in range(CALLS)]
        opened = index.open_file(workspace.history)
        queries = [spent(lambda: opened.runs(Filters(limit=30))) for _ in range(CALLS)]
        trends = [spent(lambda: opened.seen("s3", Filters())) for _ in range(CALLS)]
        size_mb = workspace.history.stat().st_size / 1e6
    helps = [spent(lambda: call("--help", folder=ROOT)) for _ in range(CALLS)]
    parts = {
        "orch runs": listings,
        "orch runs --find s3": filtered,
        "the look at the folders": looks,
        "the query of 30 runs": queries,
        "the query of a cell in all runs": trends,
        "orch --help": helps,
    }
    for name, each in parts.items():
        wall_s, cpu_s = (statistics.median(part) for part in zip(*each, strict=True))
        print(f"{name}: wall {wall_s:.3f} s, CPU {cpu_s:.3f} s (median of {CALLS})")
    cpu_s = statistics.median(cpu for _, cpu in listings)
    print(f"  target of orch runs: CPU {TARGET_S} s: {'met' if cpu_s < TARGET_S else 'MISSED'}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    about: dict[str, Any] = {"runs": RUNS, "cells": RUNS * CELLS, "index_mb": size_mb, "target_cpu_s": TARGET_S}
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load_average": os.getloadavg()[0]}
    measured = {name: [{"wall_s": wall, "cpu_s": cpu} for wall, cpu in each] for name, each in parts.items()}
    RESULT.write_text(json.dumps({**about, "machine": machine, "measured": measured}, indent=1) + "\n")


def fill(workspace: Workspace) -> None:
    """Folders, and an index that knows them as they are."""
    for number in range(RUNS):
        folder = workspace.results / f"{number:05}-run"
        folder.mkdir(parents=True)
        for name in ("journal.jsonl", "manifest.json", "summary.json"):
            (folder / name).touch()
    workspace.state.mkdir()
    opened = index.open_file(workspace.history)
    with opened.writing():
        for number, (name, signature) in enumerate(sorted(keep.folders(workspace).items())):
            opened.put(record(number, name), workspace.results / name, signature)
    opened.close()


def record(number: int, name: str) -> RunRecord:
    """A run as the index keeps it, of an experiment of six cells."""
    readings = tuple(0.05 + place / 1e4 for place in range(10))
    evidence = Evidence(
        means={"median": -1.2, "p99": -0.5, "throughput": -8.0},
        floors={"tcp": readings, "ping": readings},
        pressure=0.02,
    )
    cells = tuple(
        CellRecord(
            cell=f"s{place}__add__local__reuse__c1",
            label=f"s{place}, add, local",
            stack=f"s{place}",
            stack_label=f"s{place}",
            placement="local",
            measures=f"{place:016}",
            median=0.3,
            median_interval=(0.29, 0.31),
            requests=5_000,
            evidence=evidence,
        )
        for place in range(CELLS)
    )
    return RunRecord(
        id=name,
        name="synthetic",
        question="Which one is quicker?",
        started=(FIRST + timedelta(hours=number)).isoformat(timespec="seconds"),
        state="complete",
        provider="local",
        hosts=("localhost", "Synthetic 3000"),
        verdict="s1 answers in 0.69× the time of s0, between 0.66× and 0.72×; the tcp floor is 38 % of it.",
        passed=20,
        warned=1,
        validity="warned",
        conditions=(Condition("CPU", "Synthetic 3000"), Condition("Kernel", "6.1")),
        cells=cells,
    )


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds, those of ended children among the latter."""
    before, start = sum(os.times()[:4]), time.monotonic()
    work()
    return time.monotonic() - start, sum(os.times()[:4]) - before


def call(*words: str, folder: Path) -> None:
    """One `orch`."""
    program = "from orchestrator.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
