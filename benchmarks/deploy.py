"""How fast hosts are deployed to, and what a remote trial costs beside measuring: `python -m benchmarks.deploy`, as root.

From the root of the repository. It makes three hosts of the lab without a CPU limit that is felt, deploys to them twice,
makes trials of no load on two of them, and removes them; the raw figures go to `benchmarks/results/deploy.json`. Targets:
15 s the first time, 5 s when nothing changed, 2 s of overhead per trial.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator.clock import SYSTEM
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.remote.fleet import RemoteFleet
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench
from orchestrator.workspace import Workspace
from services.python.contract.lines import Load, Payload, Warmup
from tests.support.lab import CACHE, Diary, lab_plan, why_not

RESULT = Path(__file__).resolve().parent / "results" / "deploy.json"
TRIALS = 10
TARGETS_S = {"deploy, first time": 15.0, "deploy, nothing changed": 5.0, "overhead of a trial": 2.0}


def main() -> None:
    """Print every figure beside the machine's load, and store them."""
    lacking = why_not()
    if lacking:
        sys.exit(lacking)
    os.environ["ORCH_CACHE"] = str(CACHE)
    figures: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "kernel": platform.release()}
    figures |= {"cpus": os.cpu_count(), "load_before": os.getloadavg()[0], "wheelhouse_cached": _has_wheelhouse()}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        deployment = RemoteDeployment(three_hosts(), Diary(Path("results/benchmark")), Workspace())
        try:
            figures["provision_s"] = seconds(deployment.provision)
            figures["first_s"] = seconds(deployment.deploy)
            figures["unchanged_s"] = [seconds(deployment.deploy) for _ in range(3)]
            fleet = deployment.deploy()
            for protocol in ("tcp", "grpc"):
                figures[f"overhead_{protocol}_s"] = [overhead_s(fleet, protocol, n) for n in range(TRIALS)]
        finally:
            figures["teardown_s"] = seconds(deployment.teardown)
    figures["load_after"] = os.getloadavg()[0]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures) + "\n")
    show(figures)


def three_hosts() -> Any:
    """A placement between two zones, and one within the first."""
    plan = lab_plan()
    (far,) = plan.placements
    near = replace(
        far, id="near", name="same-zone", kind="same-zone", to_zone=far.from_zone, link=replace(far.link, rtt_ms=1.0)
    )
    return replace(plan, placements=(far, near))


def seconds(work: Callable[[], object]) -> float:
    """How long it took."""
    started = time.monotonic()
    work()
    return round(time.monotonic() - started, 3)


def overhead_s(fleet: RemoteFleet, protocol: str, number: int) -> float:
    """A whole trial with its record fetched, less warm-up and measuring."""
    started = time.monotonic()
    ask = Ask(
        protocol=protocol,
        responder={"tcp": "threads", "grpc": "grpcio"}[protocol],
        client={"tcp": "socket", "grpc": "grpcio"}[protocol],
        operation="echo",
        payload=Payload(kind="bytes", size=64),
        load=Load(concurrency=1, requests=50),
        warmup=Warmup(requests=0, at_least_s=0.0, at_most_s=1.0),
    )
    with Interrupts() as interrupts:
        bench = Bench(clock=SYSTEM, interrupts=interrupts, on_progress=dict)
        outcome = bench.make(ask, fleet.pair("local"), f"benchmark-{protocol}-{number}")
    if outcome.failure is not None:
        sys.exit(f"a trial failed: {outcome.failure}")
    (part,) = outcome.parts
    part.host.fetch(part.record, Path(f"{protocol}-{number}.timings"))
    return round(time.monotonic() - started - (part.done.measured_s or 0.0), 4)


def _has_wheelhouse() -> bool:
    return any(CACHE.glob("wheelhouse-*.tar"))


def show(figures: dict[str, Any]) -> None:
    """The figures for a person."""
    print(f"deployment to 3 hosts of the lab on {figures['cpus']} CPUs, kernel {figures['kernel']}")
    print(f"  load average {figures['load_before']:.1f} before, {figures['load_after']:.1f} after")
    print(f"  wheelhouse: {'cached' if figures['wheelhouse_cached'] else 'downloaded within the first deployment'}")
    overheads = figures["overhead_tcp_s"] + figures["overhead_grpc_s"]
    measured = {
        "deploy, first time": figures["first_s"],
        "deploy, nothing changed": max(figures["unchanged_s"]),
        "overhead of a trial": statistics.median(overheads),
    }
    for what, target_s in TARGETS_S.items():
        verdict = "met" if measured[what] < target_s else "MISSED"
        print(f"  {what:24} {measured[what]:6.2f} s   target {target_s:g} s: {verdict}")
    print(f"  slowest trial's overhead {max(overheads):6.2f} s")
    print(f"  provision {figures['provision_s']:.2f} s, teardown {figures['teardown_s']:.2f} s")


if __name__ == "__main__":
    main()
