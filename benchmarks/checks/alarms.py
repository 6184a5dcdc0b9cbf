"""What checks say of runs without an error: synthetic ones of every kind, and small real ones on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checks.realistic import SCENARIOS, STREAMS, clean_run
from orchestrator.checks import CHECKS, run_checks
from orchestrator.checks.base import rank
from orchestrator.evidence.collect import collect
from orchestrator.wording.checks.sentences import document
from services.python.contract.limits import Kind

Heard = Callable[[str], None]
Alarms = dict[str, Any]
"""`runs`, and under `checks` by name in how many it judged anything, warned and failed, with one explanation."""

_OF_CALLS = """\
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
_OF_STREAMS = """\
name: clean_streams
question: Does a check raise an alarm where nothing is wrong?
provider: local
stacks: [websocket, sse]
operations:
  - events: {per_second: 100/s, bytes: 100 B}
load: {concurrency: 2, duration: 3s}
warmup: {at_least: 300ms}
repeats: 3
control: true
limits: {wall: 3m}
"""
_EXPERIMENTS: dict[Kind, str] = {"call": _OF_CALLS, "stream": _OF_STREAMS}
_SCENARIOS: dict[Kind, dict[str, dict[str, Any]]] = {"call": SCENARIOS, "stream": STREAMS}
_SEEDS: dict[Kind, int] = {"call": 1_000, "stream": 5_000}
_LONGEST_S = 240.0
_CHECK_FAILED = 5


def synthetic(runs: int, heard: Heard, only: str | None = None) -> Alarms:
    """So many clean synthetic runs of calls, and as many of streams, taking turns between the scenarios.

    With `only`, those of the kinds of work that this check judges.
    """
    observers = {check.name: check.observe for check in CHECKS if check.observe}
    counts = _none()
    names: list[str] = []
    for kind in _kinds(only):
        scenarios = list(_SCENARIOS[kind])
        names += scenarios
        for number in range(runs):
            scenario = scenarios[number % len(scenarios)]
            run = clean_run(_SEEDS[kind] + number, **_SCENARIOS[kind][scenario])
            _count(counts, document(run_checks(collect(run, observers)))["checks"], scenario)
            if number % 20 == 19:
                heard(f"{number + 1} of {runs} synthetic runs, kind {kind}")
    return {"runs": runs, "scenarios": names, "checks": counts}


def real(runs: int, heard: Heard, only: str | None = None) -> Alarms:
    """So many small runs of the whole program on this machine for each of these kinds of work, some 20 s each."""
    counts, kinds = _none(), _kinds(only)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for kind in kinds:
            (folder / "clean.yaml").write_text(_EXPERIMENTS[kind])
            for number in range(runs):
                _count(counts, _checks_of_a_run(folder), f"real, kind {kind}")
                heard(f"{number + 1} of {runs} real runs, kind {kind}")
    return {"runs": runs, "experiments": [_EXPERIMENTS[kind] for kind in kinds], "checks": counts}


def _kinds(only: str | None) -> list[Kind]:
    """The kinds of work whose runs are made: those that the check judges."""
    judged = next((check.kinds for check in CHECKS if check.name == only), None)
    return [kind for kind in _EXPERIMENTS if judged is None or kind in judged]


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
