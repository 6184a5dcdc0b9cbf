"""What the host counts: CPU, steal, pressure, throttling. Read before and after a trial, never during one.

Counters that this system does not have are None; all others only grow, so that a difference of two readings says what
happened in between.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from services.python.contract.counters import HostCounters, TcpCounters

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")
_STAT_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def host_counters(proc: Path = _PROC, cgroup: Path = _CGROUP) -> HostCounters:
    """One reading; `HostCounters` says what each counter is."""
    return HostCounters(
        monotonic_ns=time.monotonic_ns(),
        tick_hz=os.sysconf("SC_CLK_TCK"),
        cpu_ticks=_cpu_ticks(proc),
        pressure_us={name: _pressure(proc, name) for name in ("cpu", "memory", "io")},
        throttling=_throttling(proc, cgroup),
        cgroup_cpu_us=_cgroup_cpu_us(proc, cgroup),
        tcp=_tcp(proc),
        load_average=list(os.getloadavg()),
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
    for folder in _own_folders(proc, cgroup, "cpu"):
        text = _read(folder / "cpu.stat")
        if text is not None and "nr_throttled" in text:
            return _throttling_of(text)
    return None


def _cgroup_cpu_us(proc: Path, cgroup: Path) -> int | None:
    """CPU time of the cgroup that this process is in, with all that is in it; None without one."""
    for folder in _own_folders(proc, cgroup, "cpuacct"):
        if usage := re.search(r"^usage_usec (\d+)$", _read(folder / "cpu.stat") or "", re.MULTILINE):
            return int(usage[1])
        if (text := _read(folder / "cpuacct.usage")) is not None:
            return int(text) // 1000
    return None


def _throttling_of(text: str) -> dict[str, int]:
    values = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
    throttled_us = values["throttled_usec"] if "throttled_usec" in values else values.get("throttled_time", 0) // 1000
    return {"periods": values["nr_periods"], "throttled": values["nr_throttled"], "throttled_us": throttled_us}


def _own_folders(proc: Path, cgroup: Path, controller: str) -> Iterator[Path]:
    """Where the cgroups of this process may be: those of v2, and of v1 with that controller."""
    text = _read(proc / "self" / "cgroup") or ""
    for hierarchy, path in (parts[1:] for line in text.splitlines() if len(parts := line.split(":", 2)) == 3):
        name = path.lstrip("/")
        if hierarchy == "":
            yield from (cgroup / name, cgroup / "unified" / name)
        elif controller in hierarchy.split(","):
            yield from (cgroup / hierarchy / name, cgroup / controller / name)
            if controller == "cpu":
                yield cgroup / controller  # as within a container


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
