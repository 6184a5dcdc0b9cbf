"""How fast the lab comes and goes, and how true its link is: `python -m benchmarks.lab`, as root.

From the root of the repository. It makes three hosts through Terraform, asks them by SSH, and removes them; the raw
figures go to `benchmarks/results/lab.json`. Targets: up in 4 s, down in 3 s, `ssh true` in 0.5 s, ping within 5 % or 0.5 ms.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.infra.deployments import Deployment

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "lab.json"
ROUNDS = 3
PINGS = 300
TRANSFER_S = 3.0
HOSTS = {
    "a": {"role": "requester", "zone": "us-central1-a", "machine": "lab"},
    "b": {"role": "responder", "zone": "us-central1-b", "machine": "lab"},
    "c": {"role": "requester", "zone": "us-west1-a", "machine": "lab"},
}
# Round trips of twice 0, 0.7 and 17.5 ms; where there is no distance, no rate in the way either.
LINKS: list[dict[str, Any]] = [
    {"from_zone": "us-central1-b", "to_zone": "us-west1-a", "rtt_ms": 0, "rate_mbit": 10_000},
    {"from_zone": "us-central1-a", "to_zone": "us-central1-b", "rtt_ms": 1.4},
    {"from_zone": "us-central1-a", "to_zone": "us-west1-a", "rtt_ms": 35},
]
PATHS = [("b", "c", 0.0), ("a", "b", 1.4), ("a", "c", 35.0)]

RECEIVER = """
import socket, time
listener = socket.create_server((%r, 5001))
print("ready", flush=True)
peer, _ = listener.accept()
count, start = 0, time.monotonic()
while chunk := peer.recv(1 << 20):
    count += len(chunk)
print(8 * count / (time.monotonic() - start) / 1e6)
"""
SENDER = """
import socket, time
peer = socket.create_connection((%r, 5001))
end = time.monotonic() + %r
while time.monotonic() < end:
    peer.sendall(bytes(1 << 16))
"""


def main() -> None:
    """Print every figure beside the machine's load, and store them."""
    terraform = shutil.which("terraform") or shutil.which("tofu")
    if terraform is None:
        sys.exit("this benchmark needs terraform or tofu")
    figures: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "kernel": platform.release()}
    figures |= {"cpus": os.cpu_count(), "load_before": os.getloadavg()[0]}
    with deployed(terraform) as lab:
        figures["rounds_s"] = [round_s(lab) for _ in range(ROUNDS)]
        lab.up()
        figures["link"] = lab.output("link")
        figures["ssh_true_s"] = [seconds(lambda: lab.ssh("a", "true")) for _ in range(5)]
        figures["idle"] = measured(lab)
        with busy_processes(os.cpu_count() or 1):
            figures["busy"] = measured(lab)
    figures["load_after"] = os.getloadavg()[0]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures) + "\n")
    show(figures)


@contextmanager
def deployed(terraform: str) -> Iterator[Deployment]:
    """A deployment that is not up yet, and is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Deployment(
            terraform=terraform,
            module=ROOT / "infra" / "lab",
            folder=Path(folder),
            variables={"hosts": HOSTS, "links": LINKS},
        )
        try:
            yield lab
        finally:
            lab.provider("sweep", "--run-id", lab.run_id)


def seconds(work: Any) -> float:
    """Wall seconds of a call."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def round_s(lab: Deployment) -> dict[str, float]:
    """Up (init and apply) and down, in seconds."""
    up_s = seconds(lab.up)
    down_s = seconds(lambda: succeed(lab.destroy()))
    return {"up": up_s, "down": down_s}


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    """Stop when a command failed."""
    assert done.returncode == 0, done.stderr


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that want a whole CPU each."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def measured(lab: Deployment) -> list[dict[str, Any]]:
    """Ping and throughput of every path; round trips in ms, throughput in Mbit/s."""
    return [
        {
            "wanted_ms": wanted_ms,
            "rtt_ms": pings_ms(lab, source, lab.hosts[destination]["address"]),
            "mbit_per_s": throughput_mbit(lab, source, destination),
        }
        for source, destination, wanted_ms in PATHS
    ]


def pings_ms(lab: Deployment, source: str, address: str) -> list[float]:
    """Round trips as the system's ping sees them."""
    done = lab.ssh(source, f"ping -n -c {PINGS} -i 0.01 {address}")
    return [float(text) for text in re.findall(r"time=([0-9.]+) ms", done.stdout)]


def throughput_mbit(lab: Deployment, source: str, destination: str) -> float:
    """One TCP connection at full speed for some seconds, counted where it arrives."""
    address = lab.hosts[destination]["address"]
    receive = lab.start_ssh(destination, f"/usr/bin/python3 -c '{(RECEIVER % address).replace(chr(39), chr(34))}'")
    assert receive.stdout is not None
    with receive:
        assert receive.stdout.readline().strip() == "ready"
        send = (SENDER % (address, TRANSFER_S)).replace("'", '"')
        succeed(lab.ssh(source, f"/usr/bin/python3 -c '{send}'"))
        return float(receive.stdout.readline())


def show(figures: dict[str, Any]) -> None:
    """The figures for a person."""
    ups = [one["up"] for one in figures["rounds_s"]]
    downs = [one["down"] for one in figures["rounds_s"]]
    ssh_s = statistics.median(figures["ssh_true_s"])
    print(
        f"lab of {len(HOSTS)} hosts, {ROUNDS} rounds; link: {figures['link']['kind']} ({figures['link']['scheduler']})"
    )
    print(f"  load average {figures['load_before']:.1f} before on {figures['cpus']} CPUs, kernel {figures['kernel']}")
    for what, value_s, target_s in (("up", max(ups), 4.0), ("down", max(downs), 3.0), ("ssh true", ssh_s, 0.5)):
        print(f"  {what:9} {value_s:6.2f} s   target {target_s:g} s: {'met' if value_s < target_s else 'MISSED'}")
    for beside in ("idle", "busy"):
        load = "nothing of ours beside" if beside == "idle" else f"{figures['cpus']} busy processes beside"
        print(f"  round trips less the wanted, ms ({load})")
        for path in figures[beside]:
            off = sorted(rtt_ms - path["wanted_ms"] for rtt_ms in path["rtt_ms"])
            p50, p99 = statistics.median(off), off[int(0.99 * len(off))]
            near = abs(p50) <= max(0.05 * path["wanted_ms"], 0.5)
            print(
                f"    wanted {path['wanted_ms']:5.1f}: mean {statistics.fmean(off):+.2f}  p50 {p50:+.2f}  p99 {p99:+.2f}"
                f"   TCP {path['mbit_per_s']:.0f} Mbit/s   within 5 % or 0.5 ms: {'yes' if near else 'NO'}"
            )


if __name__ == "__main__":
    main()
