"""How long a report from a million samples takes: `python -m benchmarks.report`, from the root of the repository.

It runs `orch report` as a person does, imports and digests and all, and prints the median of a few calls beside the
machine's load. The target is 5 s.
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

from orchestrator.experiment.plan.plan import Load
from tests.support.runs import a_plan, a_run, write_run

TARGET_S = 5.0
CALLS = 3
STACKS = ("rest", "grpc", "graphql", "cbor", "avro")
BLOCKS = 5
REQUESTS = 40_000


def main() -> None:
    """Make a run of a million measured samples, report on it, and say how long that took."""
    with tempfile.TemporaryDirectory() as scratch:
        plan = a_plan(stacks=STACKS, blocks=BLOCKS, load=Load(concurrency=1, requests=REQUESTS))
        folder = write_run(a_run(plan), Path(scratch) / "20231114-221320-million-0000")
        page = Path(scratch) / "report.html"
        calls = [report(folder, page) for _ in range(CALLS)]
        wall_s, cpu_s = (statistics.median(part) for part in zip(*calls, strict=True))
        print(f"report from {len(STACKS) * BLOCKS * REQUESTS:,} samples in {len(STACKS) * BLOCKS} trials")
        print(
            f"  wall {wall_s:.2f} s, CPU {cpu_s:.2f} s (median of {CALLS}); {page.stat().st_size / 1e6:.2f} MB of HTML"
        )
        print(f"  load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
        print(f"  target {TARGET_S:.0f} s: {'met' if wall_s < TARGET_S else 'MISSED'}")


def report(folder: Path, page: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one `orch report`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    program = "from orchestrator.cli.main import main; main()"
    call = [sys.executable, "-c", program, "report", str(folder), "--out", str(page)]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
