"""How long `orch plan` takes for a matrix of 10,000 cells: `python -m benchmarks.plan`, from the root of the repository.

It runs `orch plan` as a person does: the file read and checked, every cell resolved, the schedule drawn, the plan
hashed, written and printed. The target is 2 s. Beside it, the CPU of `orch --help`, whose target is 0.3 s.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = 5
PLAN_TARGET_S = 2.0
HELP_TARGET_S = 0.3
ROOT = Path(__file__).resolve().parents[1]

# 4 stacks x 250 payloads x 2 connections x 5 loads.
EXPERIMENT = f"""\
name: ten_thousand
question: How long does it take to plan?
stacks: [rest, grpc, http+cbor, http+msgpack]
operations: {{echo: {{bytes: [{", ".join(f"{size} B" for size in range(1, 251))}]}}}}
connection: [reuse, per-request]
load: {{rate: [1/s, 2/s, 3/s, 4/s, 5/s], duration: 10s}}
repeats: 5
"""
CELLS = 10_000


def main() -> None:
    """Plan a few times, ask for help a few times, and say how long that took."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "experiment.yaml").write_text(EXPERIMENT)
        plans = [call("plan", "experiment.yaml", folder=folder) for _ in range(CALLS)]
        helps = [call("--help", folder=folder) for _ in range(CALLS)]
        (plan,) = (folder / ".orch" / "plans").glob("*.json")
        assert plan.read_text().count('"timeout_s"') == CELLS
        size_mb = plan.stat().st_size / 1e6
    wall_s, cpu_s = (statistics.median(part) for part in zip(*plans, strict=True))
    help_s = statistics.median(cpu for _, cpu in helps)
    print(f"orch plan of {CELLS:,} cells: wall {wall_s:.2f} s, CPU {cpu_s:.2f} s (median of {CALLS}), {size_mb:.1f} MB")
    print(f"  target {PLAN_TARGET_S} s: {'met' if wall_s < PLAN_TARGET_S else 'MISSED'}")
    print(f"orch --help: CPU {help_s:.3f} s (median of {CALLS})")
    print(f"  target {HELP_TARGET_S} s: {'met' if help_s < HELP_TARGET_S else 'MISSED'}")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")


def call(*words: str, folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one `orch`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    program = "from orchestrator.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    wall_s = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
