"""Whether this machine is busy right now, from two readings of /proc a second apart: a warning, never a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_BETWEEN_READINGS_S = 1.0

# From here on a reading is worth a warning; the check `noise` judges each trial afterwards.
_STEAL_CPUS = 0.05
_USED_CPUS = 0.25
_WAITING = 0.20  # of the time
_LOAD_PER_CPU = 0.5  # where nothing better is counted

_STAT = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

MEANING = (
    "latencies taken now hold what the other work does to them: differences between stacks are blurred, and the answer "
    "may be `not resolved`"
)
ADVICE = "end what else runs here, or wait; `--set repeats=10` helps against what comes and goes"
ADVICE_FOR_STEAL = "the hypervisor's share is other guests': another time or another machine is the only remedy"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Counters at one moment; None where this system has none. Ticks are of all CPUs together."""

    total_ticks: int | None
    idle_ticks: int | None
    steal_ticks: int | None
    waiting_us: int | None  # in which something waited for a CPU (PSI)
    cpus: int
    load: float | None  # of the last minute


@dataclass(frozen=True, kw_only=True)
class MachineNow:
    """What else this machine did in a second in which orch slept. `used` and `steal` are in CPUs, `waiting` is a share."""

    cpus: int
    used: float | None
    steal: float | None
    waiting: float | None
    load: float | None
    usable: int | None = None  # the CPUs that this process may use: fewer than the counters are of, in some containers

    def signs(self) -> list[str]:
        """What makes it busy, as clauses; none when it is quiet, or nothing is counted."""
        found = []
        cpus = f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}"
        if self.usable is not None and self.usable < self.cpus:
            cpus += f" ({self.usable} of them for this process)"
        if self.steal is not None and self.steal > _STEAL_CPUS:
            found.append(f"the hypervisor took {self.steal:.2f} of {cpus} away")
        if self.used is not None and self.used > _USED_CPUS:
            found.append(f"other programs used {self.used:.2f} of {cpus}")
        if self.waiting is not None and self.waiting > _WAITING:
            found.append(f"something waited for a CPU for {self.waiting * 100:.0f} % of the time")
        if self.used is None and self.load is not None and self.load > _LOAD_PER_CPU * self.cpus:
            found.append(f"the load of the last minute is {self.load:.2f}, on {cpus}")
        return found

    @property
    def is_known(self) -> bool:
        """Whether anything is counted here."""
        return self.used is not None or self.load is not None

    def warning(self) -> str:
        """What was seen, what it means and what to do; empty when the machine is quiet."""
        if not (signs := self.signs()):
            return ""
        return f"this machine is busy right now: {', and '.join(signs)}. That means: {MEANING}. What to do: {self.advice()}"

    def advice(self) -> str:
        """What to do about it."""
        return f"{ADVICE}; {ADVICE_FOR_STEAL}" if (self.steal or 0) > _STEAL_CPUS else ADVICE

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`, with the warning."""
        return {**asdict(self), "warning": self.warning()}


def look(proc: Path = _PROC, sleep: Callable[[float], None] = time.sleep) -> MachineNow:
    """Read, sleep for a second, and read again; never an error."""
    before = read(proc)
    if before.total_ticks is not None:
        sleep(_BETWEEN_READINGS_S)
    return between(before, read(proc))


def between(before: Reading, after: Reading) -> MachineNow:
    """What happened between two readings; the time between them comes from the ticks themselves, not from a clock."""
    used = steal = waiting = None
    if None not in (before.total_ticks, after.total_ticks) and after.total_ticks != before.total_ticks:
        total = _grown(before.total_ticks, after.total_ticks)
        stolen = _grown(before.steal_ticks, after.steal_ticks)
        used = after.cpus * max(0, total - _grown(before.idle_ticks, after.idle_ticks) - stolen) / total
        steal = after.cpus * stolen / total
        if before.waiting_us is not None and after.waiting_us is not None:
            elapsed_us = total / after.cpus / os.sysconf("SC_CLK_TCK") * 1e6
            waiting = min(1.0, (after.waiting_us - before.waiting_us) / elapsed_us)
    return MachineNow(cpus=after.cpus, used=used, steal=steal, waiting=waiting, load=after.load, usable=_usable())


def _usable() -> int | None:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)  # Linux has it, macOS has not
    return len(affinity(0)) if affinity else None


def _grown(before: int | None, after: int | None) -> int:
    return max(0, (after or 0) - (before or 0))


def read(proc: Path = _PROC) -> Reading:
    """One reading. `cpus` are those that the ticks are of, which may be more than this process may use."""
    lines = _lines(proc / "stat")
    ticks = _ticks(lines)
    return Reading(
        total_ticks=sum(ticks.values()) if ticks else None,
        idle_ticks=ticks["idle"] + ticks.get("iowait", 0) if ticks else None,
        steal_ticks=ticks.get("steal", 0) if ticks else None,
        waiting_us=_waiting_us(_lines(proc / "pressure" / "cpu")),
        cpus=sum(line[:3] == "cpu" and line[3:4].isdigit() for line in lines) or os.cpu_count() or 1,
        load=_load(_lines(proc / "loadavg")),
    )


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _ticks(lines: list[str]) -> dict[str, int] | None:
    words = lines[0].split() if lines else []
    numbers = words[1 : 1 + len(_STAT)]
    if words[:1] != ["cpu"] or len(numbers) < 4 or not all(number.isdigit() for number in numbers):
        return None
    return dict(zip(_STAT, map(int, numbers), strict=False))


def _waiting_us(lines: list[str]) -> int | None:
    """The first line's total: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`."""
    total = lines[0].rpartition("total=")[2] if lines else ""
    return int(total) if total.isdigit() else None


def _load(lines: list[str]) -> float | None:
    """Of the last minute: from /proc, or where there is none from the system."""
    try:
        return float(lines[0].split()[0]) if lines else os.getloadavg()[0]
    except (ValueError, IndexError, OSError):
        return None
