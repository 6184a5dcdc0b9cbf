"""How often `orch gate` is right: gates of equal versions, and of versions that are slower in a known way.

    python -m benchmarks.gate [--gates 50] [--cases none,cpu] [--budget 5m] [--neighbour] [--write]
    python -m benchmarks.gate --simulate [--runs 20000] [--write]

Each gate compares two starts of `gate_service.py`. Beside it the same versions are judged as two jobs do: each started once
and called alone, by their medians at the same limit of 5 %, and by their means at 10 %, as a threshold on a stored figure.
Both jobs run on one machine here, one after the other: hosted runners differ more. `--neighbour` keeps half a CPU busy.
Each gate is a line of benchmarks/results/gate.jsonl; further calls add to it, and the table has all of them.
`--simulate` has the error rate of the whole procedure, with its stopping rule and its second run. `--write` keeps the
tables in docs/validation/.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.simulated import write
from orchestrator.findings.compare import SHARE
from orchestrator.gate.arms import AT_LEAST
from orchestrator.questions.until.find import BEYOND_DOUBT
from orchestrator.statistics.intervals import ALPHA, t_quantile, two_sided_p
from tests.support.wire import free_port

RESULTS = Path(__file__).parent / "results" / "gate.jsonl"
SERVICE = Path(__file__).parent / "gate_service.py"
LIMIT = 0.05
VERDICTS = ("slower", "not slower", "undecided")
CASES = {
    "none": (0,),
    "sleep": (2, 5, 10, 20),
    "cpu": (2, 5, 10, 20),
    "memory": (2, 5, 10, 20),
    "query": (0,),
    "tail": (0,),
}
REQUESTS = 2_000  # of a job
EXPERIMENT = """name: gate
question: Is head slower than base?
services: {shop: {start: "sh start.sh {port}", ready: {http: /orders/1}}}
stacks:
  - {name: order, service: shop, call: {http: GET /orders/7, expect: {values: {id: 7}}}}
load: {concurrency: 1, requests: 1000}
"""


def start(slow: str, by: float, port: str = "{port}") -> str:
    """Return the command that starts a version of the service."""
    return f"{sys.executable} {SERVICE} {port} {slow} {by:g}"


def gate(folder: Path, slow: str, by: float, budget: str) -> Mapping[str, Any]:
    """Return what `orch gate` says of that slowdown."""
    (folder / "gate.yaml").write_text(EXPERIMENT)
    versions: list[str] = []
    for side, command in (("base", start("none", 0, "$1")), ("head", start(slow, by, "$1"))):
        (folder / side).mkdir()
        (folder / side / "start.sh").write_text(f"exec {command}\n")
        versions += [f"--{side}-folder", side]
    words = ("gate", "gate.yaml", *versions, "--limit", f"{LIMIT:.0%}", "--budget", budget, "--json")
    program = Path(sys.executable).with_name("orch")
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    try:
        document = json.loads(done.stdout)
        return {key: document[key] for key in ("verdict", "seconds", "rounds", "own_noise", "calls")}
    except (ValueError, LookupError):
        return {"verdict": f"exit {done.returncode}", "why": done.stderr[-300:], "seconds": None}


def job(slow: str, by: float) -> list[float]:
    """Return the latencies, s, of a version that is started once and called alone."""
    port = free_port()
    with subprocess.Popen(start(slow, by, str(port)).split()) as service:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            while True:
                try:
                    connection.connect()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            latencies = []
            for _ in range(REQUESTS + 200):
                began = time.perf_counter()
                connection.request("GET", "/orders/7")
                connection.getresponse().read()
                latencies.append(time.perf_counter() - began)
            connection.close()
        finally:
            service.kill()
    return latencies[200:]


@contextmanager
def neighbour(*, is_there: bool) -> Iterator[None]:
    """Keep half a CPU busy meanwhile."""
    code = "import time\nwhile True:\n end = time.time() + .05\n while time.time() < end: pass\n time.sleep(.05)"
    process = subprocess.Popen([sys.executable, "-c", code]) if is_there else None
    try:
        yield
    finally:
        if process:
            process.kill()
            process.wait()


def measure(options: argparse.Namespace) -> None:
    """Measure gates of all cases in turns, and keep each as a line."""
    RESULTS.touch()
    cases = [(slow, by) for slow in options.cases.split(",") for by in CASES[slow]]
    for _ in range(options.gates):
        for slow, by in cases:
            with tempfile.TemporaryDirectory() as folder, neighbour(is_there=options.neighbour):
                found = gate(Path(folder), slow, by, options.budget)
                base, head = job("none", 0), job(slow, by)
            jobs = [function(head) / function(base) for function in (statistics.median, statistics.fmean)]
            about = {
                "slow": slow,
                "by": by,
                "neighbour": options.neighbour,
                "budget": options.budget,
                "cpus": os.cpu_count(),
            }
            print(slow, by, found, jobs, flush=True)
            if found["seconds"] is not None:  # it measured
                with RESULTS.open("a") as file:
                    file.write(json.dumps({**about, "jobs": jobs, **found}) + "\n")


def table() -> Iterator[str]:
    """Yield the lines of the table of all gates that are kept."""
    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in map(json.loads, RESULTS.read_text().splitlines()):
        rows.setdefault((row["slow"], row["by"], row["neighbour"], row["budget"]), []).append(row)
    heads = (
        "slower by",
        "%",
        "neighbour",
        "budget",
        "gates",
        "ratio",
        *VERDICTS,
        "minutes",
        "median of two jobs > 5%",
        "mean > 10%",
    )
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for (slow, by, beside, budget), gates in sorted(rows.items(), key=lambda row: row[0][2]):
        shares = [f"{np.mean([g['verdict'] == v for g in gates]):.0%}" for v in VERDICTS]
        minutes = statistics.median([g["seconds"] or 0.0 for g in gates]) / 60
        jobs = [f"{np.mean([g['jobs'][n] > limit for g in gates]):.0%}" for n, limit in enumerate((1 + LIMIT, 1.1))]
        ratio = statistics.median(
            c["ratio"] for g in gates for c in g["calls"] if c["metric"] == "median" and c["ratio"]
        )
        about = (slow, f"{by or ''}", "yes" if beside else "", budget, str(len(gates)), f"{ratio:.3f}")
        yield f"| {' | '.join((*about, *shares, f'{minutes:.1f}', *jobs))} |"


def simulated(runs: int, seed: int = 1) -> Iterator[str]:
    """Yield the table of the whole procedure by simulation, of one call: verdicts by true ratio and noise.

    The p99 spreads twice as much as median and throughput, and all three are independent, which gives most false alarms.
    """
    yield "| truth | SD of a block | blocks at most | slower | not slower | undecided | alarms | blocks |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for most, sd, truth in product((20, 60), (0.02, 0.05, 0.10), (1.0, 1.02, 1.05, 1.10, 1.20)):
        random = np.random.default_rng(seed)
        firsts = [judged(random, log(truth), sd, most) for _ in range(runs)]
        ends = [
            confirmed(first, judged(random, log(truth), sd, most)) if first.slower else first.verdict
            for first in firsts
        ]
        shares = [f"{np.mean([end == verdict for end in ends]):.1%}" for verdict in VERDICTS]
        alarms = f"{np.mean([bool(first.slower) for first in firsts]):.1%}"
        blocks = f"{statistics.median(first.blocks for first in firsts):.0f}"
        yield f"| {truth} | {sd:.0%} | {most} | {' | '.join((*shares, alarms, blocks))} |"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A simulated run: the verdict by median, the statistics by which head is slower, and its blocks."""

    verdict: str
    slower: frozenset[int]
    blocks: int


def confirmed(first: Judged, second: Judged) -> str:
    """Return the verdict after an alarm: slower is what both runs call so by one statistic."""
    if first.slower & second.slower:
        return "slower"
    return "undecided" if second.verdict == "slower" else second.verdict


def judged(random: np.random.Generator, mean: float, sd: float, most: int) -> Judged:
    """Return a run that ends as a gate's does."""
    logs = random.normal(mean, np.array([sd, 2 * sd, sd]), (most, 3))  # median, p99, throughput
    for blocks in range(AT_LEAST, most + 1):
        means, errors = logs[:blocks].mean(axis=0), logs[:blocks].std(axis=0, ddof=1) / sqrt(blocks)
        level = ALPHA * (SHARE if blocks < most else 1)
        halves = t_quantile(1 - level / 2, blocks - 1) * errors
        is_sure = means[0] > 0 and two_sided_p(means[0] / errors[0], blocks - 1) < BEYOND_DOUBT
        if halves[0] <= log(1 + LIMIT) / 2 or is_sure:
            break
    limit = log(1 + LIMIT)
    slower = frozenset(np.flatnonzero((means > halves) & (means + halves > limit)).tolist())
    verdict = "slower" if 0 in slower else "not slower" if means[0] + halves[0] < limit else "undecided"
    return Judged(verdict=verdict, slower=slower, blocks=blocks)


def main() -> None:
    """Measure or simulate, print the table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gates", type=int, default=50)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--neighbour", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not options.simulate:
        measure(options)
    lines = list(simulated(options.runs) if options.simulate else table())
    print("\n".join(lines))
    if options.write:
        write("gate-simulated" if options.simulate else "gate", lines)


if __name__ == "__main__":
    main()
