"""Load generators that others wrote, beside wrk: oha for HTTP and ghz for gRPC; `make referee` installs both.

Each sends one request over and over on a connection for each request in flight, on the CPU of this process.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.wrk_program import Asked

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "build" / "referee" / "bin"
PROTO = ROOT / "protos" / "orch.proto"
TIMEOUT_S = 30


def find(name: str) -> str | None:
    """The program on the PATH, else the one that `make referee` installed; None without either."""
    return shutil.which(name) or shutil.which(name, path=str(OWN))


def run_oha(program: str, asked: Asked, *, in_flight: int, window_s: int, folder: Path) -> dict[str, Any]:
    """One turn of oha with one thread; figures as `run_wrk`. SystemExit when it fails, or a reply had no right status."""
    body = folder / "oha.body"
    body.write_bytes(asked.body)
    fields = [word for name, value in asked.fields.items() for word in ("-H", f"{name}: {value}")]
    argv = [
        *(program, "--no-tui", "--output-format", "json", "--worker-threads", "1", "--redirect", "0", "--ipv4"),
        *("--disable-compression", "-w", "-c", str(in_flight), "-z", f"{window_s}s", "-t", f"{TIMEOUT_S}s"),
        *("-m", "POST", "-D", str(body), *fields, f"http://127.0.0.1:{asked.port}{asked.path}"),
    ]
    printed, cpu_s = _run("oha", argv)
    return {**read_oha(printed), "cpu_s": cpu_s}


def read_oha(printed: str) -> dict[str, Any]:
    """Its figures; SystemExit for a request without a right status."""
    report = json.loads(printed)
    wrong = {status: n for status, n in report["statusCodeDistribution"].items() if status != "200"}
    if wrong or report["errorDistribution"] or not report["statusCodeDistribution"]:
        raise SystemExit(f"oha: statuses {wrong}, errors {report['errorDistribution']}")
    percentiles = report["latencyPercentiles"]
    return {
        "requests": report["statusCodeDistribution"]["200"],
        "window_s": report["summary"]["total"],
        "p50_ms": percentiles["p50"] * 1000,
        "p99_ms": percentiles["p99"] * 1000,
    }


def run_ghz(
    program: str, port: int, method: str, message: bytes, *, in_flight: int, window_s: int, folder: Path
) -> dict[str, Any]:
    """One turn of ghz on one CPU, a connection for each request in flight; figures as `run_wrk`. SystemExit if it fails."""
    sent = folder / "ghz.message"
    sent.write_bytes(message)
    argv = [
        *(program, "--insecure", "--proto", str(PROTO), "--call", method, "--binary-file", str(sent)),
        *("-c", str(in_flight), "--connections", str(in_flight), "-z", f"{window_s}s", "--duration-stop", "wait"),
        *(
            "-t",
            f"{TIMEOUT_S}s",
            "--cpus",
            "1",
            "--disable-template-functions",
            "--disable-template-data",
            "-O",
            "json",
        ),
        f"127.0.0.1:{port}",
    ]
    printed, cpu_s = _run("ghz", argv)
    return {**read_ghz(printed), "cpu_s": cpu_s}


def read_ghz(printed: str) -> dict[str, Any]:
    """Its figures, of each call's latency; SystemExit for a call without a right status, or without a latency."""
    report = json.loads(printed)
    statuses, details = report["statusCodeDistribution"], report["details"]
    if statuses != {"OK": report["count"]} or report.get("errorDistribution"):
        raise SystemExit(f"ghz: statuses {statuses}, errors {report.get('errorDistribution')}")
    if len(details) != report["count"]:
        raise SystemExit(f"ghz: {len(details)} latencies of {report['count']} calls")
    latencies_ns = sorted(detail["latency"] for detail in details)
    return {
        "requests": report["count"],
        "window_s": report["total"] / 1e9,
        "p50_ms": statistics.median(latencies_ns) / 1e6,
        "p99_ms": latencies_ns[-(-len(latencies_ns) * 99 // 100) - 1] / 1e6,
    }


def _run(name: str, argv: Sequence[str]) -> tuple[str, float]:
    """What it printed, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        raise SystemExit(f"{name} ended with {ended.returncode}:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return ended.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
