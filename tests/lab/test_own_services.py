"""The shipped example of own services over 20 ms: its folder is deployed, and each service runs on the responder's host."""

from __future__ import annotations

import subprocess
from pathlib import Path

from orchestrator.summarise import summarise
from tests.support.lab import MACHINE, ROOT, on_hosts, run_in_lab

pytestmark = on_hosts(600)

RTT_MS = 20.0
SETTINGS = (
    "provider=lab",
    f"machine={MACHINE}",
    f"placements=[{{name: far, from: us-central1-a, to: us-west1-a, rtt: {RTT_MS:g}ms}}]",
    "repeats=1",
    "load={requests: 40}",
    "warmup={requests: 10, at_least: 0s}",
)


def test_own_services_run_on_the_responders_host_with_floors_and_are_counted(tmp_path: Path) -> None:
    overrides = [word for setting in SETTINGS for word in ("--set", setting)]
    with run_in_lab(tmp_path, str(ROOT / "experiments" / "own" / "orders.yaml"), *overrides) as run:
        trials = run.manifest().trials
        assert {trial.cell.split("-")[1] for trial in trials} == {"rest", "grpc", "graphql", "websocket"}
        assert [trial.failure for trial in trials if trial.failure is not None] == []
        assert all(trial.stats is not None and trial.stats.cpu_s and trial.stats.memory_bytes for trial in trials)
        floors = {floor for baseline in run.manifest().baselines if baseline.kind == "tcp" for floor in baseline.cells}
        assert floors == {trial.cell for trial in trials}
        summary = summarise(run)
        assert all(cell.distribution and cell.distribution.median >= RTT_MS for cell in summary.cells)
        assert {check.verdict for check in summary.checks if check.name == "reply" and check.cell} == {"pass"}
        assert b"shop_rest.py" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout
