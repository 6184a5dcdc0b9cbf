"""What checks say of runs without an error: synthetic ones of every kind, and small real ones on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.checks.realistic import SCENARIOS, clean_run
from orchestrator.analysis.checks import CHECKS, run_checks
from orchestrator.analysis.checks.base import rank
from orchestrator.analysis.collect import collect

Heard = Callable[[str], None]
Alarms = dict[str, Any]
"""`runs`, and under `checks` by name in how many it judged anything, warned and failed, with one explanation."""

_EXPERIMENT = """\
name: clean
question: Does a check raise an alarm where nothing is wrong?
provider: local
stacks: [grpc, websocket]
operations: [add]
load: {concurrency: 1, requests: 1000}
warmup: {requests: 200, at_least: 300ms}
repeats: 3
control: true
limits: {wall: 3m}
"""
_LONGEST_S = 240.0
_CHECK_FAILED = 5


def synthetic(runs: int, heard: Heard) -> Alarms:
    """So many clean synthetic runs, taking turns between the scenarios."""
    observers = {check.name: check.observe for check in CHECKS if check.observe}
    names = list(SCENARIOS)
    counts = _none()
    for number in range(runs):
        scenario = names[number % len(names)]
        evidence = collect(clean_run(1_000 + number, **SCENARIOS[scenario]), observers)
        _count(counts, [asdict(result) for result in run_checks(evidence)], scenario)
        if number % 20 == 19:
            heard(f"{number + 1} of {runs} synthetic runs")
    return {"runs": runs, "scenarios": names, "checks": counts}


def real(runs: int, heard: Heard) -> Alarms:
    """So many small runs of the whole program on this machine, some 20 s each."""
    counts = _none()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "clean.yaml").write_text(_EXPERIMENT)
        for number in range(runs):
            _count(counts, _checks_of_a_run(folder), "real")
            heard(f"{number + 1} of {runs} real runs")
    return {"runs": runs, "experiment": _EXPERIMENT, "checks": counts}


def _checks_of_a_run(folder: Path) -> list[dict[str, Any]]:
    """Every result as stored; RuntimeError with the program's words when it did not end well."""
    root = Path(__file__).resolve().parents[2]
    before = set((folder / "results").glob("*"))
    done = subprocess.run(
        [sys.executable, "-c", "from orchestrator.cli.main import main; main()", "run", "clean.yaml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    made = set((folder / "results").glob("*")) - before
    if done.returncode not in (0, _CHECK_FAILED) or len(made) != 1:
        raise RuntimeError(f"the run ended with status {done.returncode}: {done.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads((made.pop() / "checks.json").read_text())["checks"]
    return found


def _none() -> dict[str, dict[str, Any]]:
    return {check.name: {"judged": 0, "warned": 0, "failed": 0, "for_example": None} for check in CHECKS}


def _count(counts: dict[str, dict[str, Any]], results: Sequence[Mapping[str, Any]], where: str) -> None:
    """Add one run: a check counts once, by its gravest verdict, and only where it had something to judge."""
    for name in {result["name"] for result in results if _is_judged(result)}:
        of_check = [result for result in results if result["name"] == name and _is_judged(result)]
        gravest = max(of_check, key=lambda result: rank(result["verdict"]))
        counts[name]["judged"] += 1
        if gravest["verdict"] != "pass":
            counts[name]["failed" if gravest["verdict"] == "fail" else "warned"] += 1
            counts[name]["for_example"] = counts[name]["for_example"] or f"{where}: {gravest['explanation']}"


def _is_judged(result: Mapping[str, Any]) -> bool:
    """Whether it is about anything: a check that applies to nothing says so of no cell and without numbers."""
    return result["verdict"] in ("pass", "warn", "fail") and bool(result["cell"] or result["evidence"])
