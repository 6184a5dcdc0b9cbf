"""A responder that stands still for 500 ms of 5 s, asked at 200/s: what an open loop must show of it, 20 times.

    python -m benchmarks.harness.stall [--runs 20] [--protocol tcp] [--concurrency 100] [--keep]

The real responder is stopped (SIGSTOP) and continued while the real requester measures it. 100 of the 1,000 requests are
due meanwhile, evenly spaced, and the k-th of them waits for what is left of the stall: latencies are even from 0 to
500 ms over the slowest tenth, so that p95 is 250 ms and p99 is 450 ms. A requester that counts from the send, or that
stops sending meanwhile, shows a few ms. Arrivals are uniform here: of Poisson arrivals 100 plus or minus 10 are due in
the stall, which moves p95 by 25 ms from run to run by itself.

What was due in the stall is answered one after the other when it ends: where a request takes 0.4 ms, the fiftieth waits
20 ms more. So the default is `tcp`, whose requests cost least, as the requester is what is tried here.

Expected on a quiet machine: both within 25 ms in 19 of 20 runs. `--keep` stores the numbers under benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import IDENTITY, pin_requester, responder
from orchestrator.experiment.plan.loads import room
from orchestrator.statistics.quantiles import NS_PER_MS, quantile
from services.python.contract.lines import STATUSES, Load, Target, Trial, Warmup
from services.python.contract.offers import find_protocol
from services.python.load.record import read_record

RATE_PER_S, WINDOW_S, STALL_S, STALL_AFTER_S = 200.0, 5.0, 0.5, 2.0
WARM_UP_S = 2.0  # from the requester's start line to the measured phase
EXPECTED_MS = {"p95": 250.0, "p99": 450.0}
TOLERANCE_MS = 25.0


def main() -> None:
    """Make the runs, print each, and say in how many both percentiles were right; exit status 1 below 19 of 20."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness.stall")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--protocol", default="tcp")
    parser.add_argument("--concurrency", type=int, default=room(RATE_PER_S))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    found_on = conditions()
    print(told(found_on))
    print(f"{pin_requester()}; {options.protocol}, at most {options.concurrency} in flight")
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            show(stalled(options.protocol, options.concurrency, Path(folder) / "record")) for _ in range(options.runs)
        ]
    right = sum(is_right(run) for run in runs)
    print(f"p95 250 ± 25 ms and p99 450 ± 25 ms in {right} of {len(runs)} runs")
    if options.keep:
        print(keep("stall", {"conditions": found_on, "options": vars(options), "right": right, "runs": runs}))
    sys.exit(0 if right >= 0.95 * len(runs) else 1)


def stalled(protocol: str, concurrency: int, record: Path) -> dict[str, Any]:
    """One run with a stall: percentiles in ms, counted from when each request was due; and the stall as it was."""
    spec = find_protocol(protocol)
    with responder(protocol, spec.responder().name) as (process, ready):
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity=IDENTITY),
            protocol=protocol,
            client=spec.default_client(concurrency).name,
            operation="add",
            record=str(record),
            load=Load(concurrency=concurrency, duration_s=WINDOW_S, rate_per_s=RATE_PER_S, arrivals="uniform"),
            warmup=Warmup(requests=100, at_least_s=0.0, at_most_s=WARM_UP_S / 2),
            start_at_unix_ns=time.time_ns() + int((1.0 + WARM_UP_S) * 1e9),
        )
        with subprocess.Popen(
            [sys.executable, "-m", "services.python.programs.request"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as requester:
            assert requester.stdin is not None
            assert requester.stdout is not None
            requester.stdin.write(trial.to_json() + "\n")
            requester.stdin.flush()
            assert trial.start_at_unix_ns is not None
            stall_s = stop_for(process.pid, trial.start_at_unix_ns / 1e9 + STALL_AFTER_S, STALL_S)
            done = [json.loads(line) for line in requester.stdout][-1]
    if done["type"] != "done":
        raise SystemExit(f"the requester failed: {done}")
    rows = [row for row in read_record(record) if row.phase == 1]
    good = [row for row in rows if STATUSES[row.status] == "ok"]
    latency = np.sort(np.array([row.received_ns - row.intended_ns for row in good], dtype=np.int64))
    return {
        "stall_ms": stall_s * 1000,
        "requests": len(good),
        "errors": done["errors"],
        "not_sent": done["not_sent"],
        **{name: quantile(latency, share) / NS_PER_MS for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))},
    }


def stop_for(pid: int, at_s: float, seconds: float) -> float:
    """Stop a process of ours at a time of the wall clock; how long it stood still, in seconds."""
    time.sleep(max(0.0, at_s - time.time()))
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    try:
        time.sleep(seconds)
    finally:
        os.kill(pid, signal.SIGCONT)
    return time.monotonic() - began


def is_right(run: dict[str, Any]) -> bool:
    """Whether both percentiles are within the tolerance."""
    return all(abs(run[name] - wanted) <= TOLERANCE_MS for name, wanted in EXPECTED_MS.items())


def show(run: dict[str, Any]) -> dict[str, Any]:
    """Print a run on a line."""
    print(
        f"stall {run['stall_ms']:5.0f} ms  {run['requests']:,} replies, {run['not_sent']} not sent"
        f"  p50 {run['p50']:6.2f}  p95 {run['p95']:6.1f}  p99 {run['p99']:6.1f} ms"
        f"  {'as expected' if is_right(run) else 'OFF'}",
        flush=True,
    )
    return run


if __name__ == "__main__":
    main()
