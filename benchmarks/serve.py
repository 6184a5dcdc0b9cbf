"""How long the page's list takes where 5,000 runs are, and 1,000 requests at once: `python -m benchmarks.serve`.

The workspace is that of `benchmarks.history`. `orch serve` runs as a process of its own, as a person starts it, and is
asked over loopback. The target is 0.3 s of CPU for the list, as that of `orch runs` is; each time the folders are looked
at anew, as requests are further apart than `FRESH_S`. Then 1,000 connections ask at once for the list, filters, cells, the
API, and addresses that name nothing: each must be answered. Raw output goes to `benchmarks/results/serve.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import history
from orchestrator.web.index import FRESH_S
from orchestrator.workspace import Workspace

CALLS = 15
AT_ONCE = 1_000
TARGET_S = 0.3
RESULT = history.ROOT / "benchmarks" / "results" / "serve.json"
LIST = "/"
PATHS = (
    LIST,
    "/?stack=s3",
    "/?text=synthetic&page=40",
    "/api/runs?per_page=20",
    "/trends",
    "/runs/nope",
    "/?verdict=wrong",
)


def main() -> None:
    """Make the workspace, serve it, ask, and say how long that took."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch))
        history.fill(workspace)
        process = _serve(workspace.root)
        try:
            host, port = _address(process)
            asyncio.run(_asked(host, port, LIST))  # the first one reads templates
            lists = [_spent(host, port, LIST, process.pid) for _ in range(CALLS)]
            cpu = _cpu_s(process.pid)
            begun = time.monotonic()
            at_once = asyncio.run(_at_once(host, port))
            whole_s = time.monotonic() - begun
            cpu = _cpu_s(process.pid) - cpu
            peak_mb = _peak_mb(process.pid)
        finally:
            process.terminate()
            process.communicate(timeout=60)
    wall_s, cpu_s = (statistics.median(part) for part in zip(*lists, strict=True))
    print(f"the list of {history.RUNS:,} runs: wall {wall_s:.3f} s, CPU {cpu_s:.3f} s (median of {CALLS})")
    print(f"  target CPU {TARGET_S} s: {'met' if cpu_s < TARGET_S else 'MISSED'}")
    statuses = Counter(status for status, _ in at_once)
    slowest = max(wall for _, wall in at_once)
    print(f"{AT_ONCE:,} requests at once: {whole_s:.1f} s, slowest {slowest:.1f} s, CPU {cpu:.1f} s")
    print(f"  answers by status (0: none): {dict(sorted(statuses.items()))}")
    print(f"  memory at most {peak_mb:.0f} MB; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load_average": os.getloadavg()[0]}
    document: dict[str, Any] = {
        "runs": history.RUNS,
        "target_cpu_s": TARGET_S,
        "machine": machine,
        "list": [{"wall_s": wall, "cpu_s": spent} for wall, spent in lists],
        "at_once": {
            "requests": AT_ONCE,
            "wall_s": whole_s,
            "cpu_s": cpu,
            "peak_mb": peak_mb,
            "statuses": {str(status): number for status, number in sorted(statuses.items())},
            "each_s": sorted(round(wall, 4) for _, wall in at_once),
        },
    }
    RESULT.write_text(json.dumps(document, indent=1) + "\n")


def _serve(folder: Path) -> subprocess.Popen[str]:
    program = "from orchestrator.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(history.ROOT)}
    command = [sys.executable, "-c", program, "serve", "--port", "0"]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def _address(process: subprocess.Popen[str]) -> tuple[str, int]:
    assert process.stdout is not None
    found = urlsplit(process.stdout.readline().strip())
    assert found.hostname is not None
    assert found.port is not None
    return found.hostname, found.port


def _spent(host: str, port: int, path: str, pid: int) -> tuple[float, float]:
    """Wall seconds of a request, and CPU seconds of the server; the folders are looked at anew."""
    time.sleep(FRESH_S * 1.2)
    before, begun = _cpu_s(pid), time.monotonic()
    status, _ = asyncio.run(_asked(host, port, path))
    wall = time.monotonic() - begun
    assert status == 200
    return wall, _cpu_s(pid) - before


async def _at_once(host: str, port: int) -> list[tuple[int, float]]:
    return await asyncio.gather(*(_asked(host, port, PATHS[number % len(PATHS)]) for number in range(AT_ONCE)))


async def _asked(host: str, port: int, path: str) -> tuple[int, float]:
    """The status of an answer that came whole, and how long it took; 0 where there was none."""
    begun = time.monotonic()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        content = await reader.read(-1)
        writer.close()
    except OSError:
        return 0, time.monotonic() - begun
    head, _, body = content.partition(b"\r\n\r\n")
    said = re.search(rb"content-length: (\d+)", head)
    is_whole = said is not None and int(said[1]) == len(body)
    return (int(head.split(b" ", 2)[1]) if is_whole else 0), time.monotonic() - begun


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1e3 if found else 0.0


if __name__ == "__main__":
    main()
