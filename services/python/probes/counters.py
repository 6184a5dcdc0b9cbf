"""What the host counts: CPU, steal, pressure, throttling. Read before and after a trial, never during one.

Counters that this system does not have are None; all others only grow, so that a difference of two readings says what
happened in between.
"""

from __future__ import annotations

import os
import re
import resource
import time
from pathlib import Path

from services.python.contract.counters import HostCounters, TcpCounters

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")
_STAT_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def host_counters(proc: Path = _PROC, cgroup: Path = _CGROUP) -> HostCounters:
    """One reading.

    `cpu_ticks`: of all CPUs, in `tick_hz` per second, `total` and `busy` (all but idle and iowait) beside the kernel's
    columns. `pressure_us`: microseconds in which something waited for cpu, memory, io (PSI, kernel documentation
    `accounting/psi.rst`). `throttling` and `cgroup_cpu_us`: of this process's own cgroup. `tcp`: segments sent, and of these
    sent again, by everything in this network namespace. `process`: of this process.
    """
    return HostCounters(
        monotonic_ns=time.monotonic_ns(),
        tick_hz=os.sysconf("SC_CLK_TCK"),
        cpu_ticks=_cpu_ticks(proc),
        pressure_us={name: _pressure(proc, name) for name in ("cpu", "memory", "io")},
        throttling=_throttling(proc, cgroup),
        cgroup_cpu_us=_cgroup_cpu_us(proc, cgroup),
        tcp=_tcp(proc),
        load_average=_load_average(),
        process=_process(),
    )


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _cpu_ticks(proc: Path) -> dict[str, int] | None:
    text = _read(proc / "stat")
    if text is None:
        return None
    values = [int(word) for word in text.split("\n", 1)[0].split()[1 : 1 + len(_STAT_COLUMNS)]]
    ticks = dict(zip(_STAT_COLUMNS, values, strict=False))
    total = sum(values)
    return {**ticks, "total": total, "busy": total - ticks["idle"] - ticks.get("iowait", 0)}


def _pressure(proc: Path, name: str) -> int | None:
    """The first line's total: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`."""
    text = _read(proc / "pressure" / name)
    if not text:
        return None
    return int(text.split("\n", 1)[0].rpartition("=")[2])


def _tcp(proc: Path) -> TcpCounters | None:
    """/proc/net/snmp has a line of names and one of values (RFC 4022; OutSegs excludes what is sent again)."""
    lines = [line.split()[1:] for line in (_read(proc / "net" / "snmp") or "").splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2:
        return None
    values = dict(zip(lines[0], map(int, lines[1]), strict=True))
    return TcpCounters(segments_sent=values["OutSegs"], retransmits=values["RetransSegs"])


def _throttling(proc: Path, cgroup: Path) -> dict[str, int] | None:
    """Periods, periods throttled, and microseconds throttled; cgroup v2 or v1."""
    for hierarchy, path in _own_cgroups(proc):
        if hierarchy == "":
            folders = [cgroup / path.lstrip("/"), cgroup / "unified" / path.lstrip("/")]
        elif "cpu" in hierarchy.split(","):
            folders = [cgroup / hierarchy / path.lstrip("/"), cgroup / "cpu" / path.lstrip("/"), cgroup / "cpu"]
        else:
            continue
        for folder in folders:
            text = _read(folder / "cpu.stat")
            if text is not None and "nr_throttled" in text:
                return _throttling_of(text)
    return None


def _cgroup_cpu_us(proc: Path, cgroup: Path) -> int | None:
    """CPU time of the cgroup that this process is in, with all that is in it; None without one."""
    for hierarchy, path in _own_cgroups(proc):
        name = path.lstrip("/")
        if hierarchy == "":
            for folder in (cgroup / name, cgroup / "unified" / name):
                found = re.search(r"^usage_usec (\d+)$", _read(folder / "cpu.stat") or "", re.MULTILINE)
                if found is not None:
                    return int(found[1])
        if "cpuacct" in hierarchy.split(","):
            for folder in (cgroup / hierarchy / name, cgroup / "cpuacct" / name):
                if (text := _read(folder / "cpuacct.usage")) is not None:
                    return int(text) // 1000
    return None


def _throttling_of(text: str) -> dict[str, int]:
    values = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
    throttled_us = values["throttled_usec"] if "throttled_usec" in values else values.get("throttled_time", 0) // 1000
    return {"periods": values["nr_periods"], "throttled": values["nr_throttled"], "throttled_us": throttled_us}


def _own_cgroups(proc: Path) -> list[tuple[str, str]]:
    """Controllers ("" for v2) and path of each hierarchy this process is in."""
    text = _read(proc / "self" / "cgroup") or ""
    parts = [line.split(":", 2) for line in text.splitlines()]
    return [(part[1], part[2]) for part in parts if len(part) == 3]


def _load_average() -> list[float] | None:
    try:
        return list(os.getloadavg())
    except OSError:
        return None


def _process() -> dict[str, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_s": time.process_time(),
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
        "major_faults": usage.ru_majflt,
        "max_rss": usage.ru_maxrss,
    }
