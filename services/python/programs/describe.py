"""`python -m services.python.programs.describe`: the facts of this host that a measurement depends on, as one line of JSON.

Facts that this system does not give are null. With `--cloud gcp` the instance's own metadata service is asked where and
what it is (it answers on Google's hosts only, so it is asked only when told to).
"""

from __future__ import annotations

import argparse
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.python.contract.description import Description, HostClock
from services.python.contract.source import source_digest
from services.python.probes.clock import Clock

_SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.default_qdisc",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
)
_METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/"
_METADATA_KEYS = {
    "machine": "machine-type",
    "zone": "zone",
    "id": "id",
    "cpu_platform": "cpu-platform",
    "image": "image",
    "preemptible": "scheduling/preemptible",
}


def describe(root: Path = Path("/"), cloud: str | None = None) -> Description:
    """Everything, from the files below `root`. Only `uptime_s` and `clock` differ between two looks at the same host."""
    cpuinfo = _colon_fields(root / "proc/cpuinfo")
    instance = _instance() if cloud == "gcp" else None
    return Description(
        host=socket.gethostname(),
        os=_distribution(),
        kernel=f"{platform.system()} {platform.release()}",
        kernel_version=platform.version(),
        architecture=platform.machine(),
        uptime_s=_uptime_s(root),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        **_cpu(root, cpuinfo),
        memory_bytes=_memory(root, "MemTotal"),
        swap_bytes=_memory(root, "SwapTotal"),
        cgroup=_cgroup(root),
        virtualization=_virtualization(root, cpuinfo),
        services_sha256=source_digest(Path(__file__).resolve().parents[3]),
        clock_source=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        clock=_clock(),
        sysctl={name: _text(root / "proc/sys" / name.replace(".", "/")) for name in _SYSCTLS},
        machine_type=instance["machine"] if instance else None,
        zone=instance["zone"] if instance else None,
        cloud=instance,
    )


def _text(path: Path) -> str | None:
    try:
        return " ".join(path.read_text().split())
    except (OSError, ValueError):
        return None


def _colon_fields(path: Path) -> dict[str, str]:
    """`name : value` lines, the first of each name."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()


def _uptime_s(root: Path) -> float | None:
    text = _text(root / "proc/uptime")
    return float(text.split()[0]) if text else None


def _cpu(root: Path, cpuinfo: Mapping[str, str]) -> dict[str, Any]:
    system = root / "sys/devices/system/cpu"
    return {
        "cpu": cpuinfo.get("model name") or cpuinfo.get("Model") or platform.processor() or None,
        "cpus": os.cpu_count(),
        "usable_cpus": len(os.sched_getaffinity(0)),
        "governor": _text(system / "cpu0/cpufreq/scaling_governor"),
        "turbo_off": _text(system / "intel_pstate/no_turbo"),
        "hyperthreading": _text(system / "smt/active"),
        "isolated_cpus": _text(system / "isolated"),
        "mitigations": {path.name: _text(path) for path in sorted((system / "vulnerabilities").glob("*"))},
    }


def _memory(root: Path, name: str) -> int | None:
    fields = _colon_fields(root / "proc/meminfo")
    return int(fields[name].split()[0]) * 1024 if name in fields else None


def _cgroup(root: Path) -> dict[str, str | None]:
    v1 = root / "sys/fs/cgroup"
    membership = (_text(root / "proc/self/cgroup") or "").split()
    v2 = v1 / next((word[3:].strip("/") for word in membership if word.startswith("0::")), "")
    return {
        "cpu_max": _text(v2 / "cpu.max"),
        "memory_max": _text(v2 / "memory.max") or _text(v1 / "memory/memory.limit_in_bytes"),
        "cpu_quota_us": _text(v1 / "cpu/cpu.cfs_quota_us"),
        "cpu_period_us": _text(v1 / "cpu/cpu.cfs_period_us"),
    }


def _virtualization(root: Path, cpuinfo: Mapping[str, str]) -> str | None:
    """The firmware's names for the machine where it is a virtual one, and whether this is a container."""
    hints = [_text(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name")]
    is_virtual = "hypervisor" in cpuinfo.get("flags", "").split()
    words = [" ".join(filter(None, hints)) or "virtual machine"] if is_virtual else []
    if any((root / name).exists() for name in (".dockerenv", "run/.containerenv")):
        words.append("container")
    return ", ".join(words) or None


def _clock() -> HostClock:
    monotonic, now = time.get_clock_info("monotonic"), Clock().anchor()
    return HostClock(
        implementation=monotonic.implementation,
        resolution_ns=monotonic.resolution * 1e9,
        synchronised=_synchronised(),
        wall_ns=now.wall_ns,
        monotonic_ns=now.monotonic_ns,
    )


def _synchronised() -> bool | None:
    """What timedatectl says of NTP; null where it is not to be had."""
    try:
        shown = subprocess.run(
            ["timedatectl", "show", "--property=NTPSynchronized", "--value"],
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"yes": True, "no": False}.get(shown.stdout.strip())


def _instance() -> dict[str, str | None]:
    """What the instance says of itself; `machine` and `zone` as their short names."""
    # Loaded only on a cloud host.
    from urllib.request import Request, urlopen

    def ask(key: str) -> str | None:
        question = Request(_METADATA + key, headers={"Metadata-Flavor": "Google"})  # noqa: S310 - a constant address
        try:
            with urlopen(question, timeout=2) as reply:  # noqa: S310
                return str(reply.read().decode()).rpartition("/")[2]
        except (OSError, ValueError):
            return None

    return {name: ask(key) for name, key in _METADATA_KEYS.items()}


def main(arguments: list[str] | None = None, environment: Mapping[str, str] = os.environ) -> None:
    """Print the facts."""
    parser = argparse.ArgumentParser(
        prog="python -m services.python.programs.describe", description="Describe this host."
    )
    parser.add_argument("--cloud", choices=("gcp",), default=environment.get("ORCH_CLOUD") or None)
    sys.stdout.write(describe(cloud=parser.parse_args(arguments).cloud).to_json() + "\n")


if __name__ == "__main__":
    main()
