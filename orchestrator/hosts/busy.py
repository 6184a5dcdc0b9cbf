"""Whether this machine is busy right now, from two readings of /proc a second apart: a warning, never a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
class MachineNow:
    """What else this machine did in a second in which orch slept. `used` and `steal` are in CPUs, `waiting` is a share."""

    cpus: int
    used: float | None
    steal: float | None
    waiting: float | None
    load: float | None

    def signs(self) -> list[str]:
        """What makes it busy, as clauses; none when it is quiet, or nothing is counted."""
        signs = []
        cpus = f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}"
        if self.steal is not None and self.steal > _STEAL_CPUS:
            signs.append(f"the hypervisor took {self.steal:.2f} of {cpus} away")
        if self.used is not None and self.used > _USED_CPUS:
            signs.append(f"other programs used {self.used:.2f} of {cpus}")
        if self.waiting is not None and self.waiting > _WAITING:
            signs.append(f"something waited for a CPU for {self.waiting * 100:.0f} % of the time")
        if self.used is None and self.load is not None and self.load > _LOAD_PER_CPU * self.cpus:
            signs.append(f"the load of the last minute is {self.load:.2f}, on {cpus}")
        return signs

    @property
    def is_known(self) -> bool:
        return self.used is not None or self.load is not None

    def warning(self) -> str:
        """What was seen, what it means and what to do; empty when the machine is quiet."""
        if not (signs := self.signs()):
            return ""
        return f"this machine is busy right now: {', and '.join(signs)}. That means: {MEANING}. What to do: {self.advice()}"

    def advice(self) -> str:
        return f"{ADVICE}; {ADVICE_FOR_STEAL}" if (self.steal or 0) > _STEAL_CPUS else ADVICE


def look(proc: Path = _PROC, sleep: Callable[[float], None] = time.sleep) -> MachineNow:
    """Read the counters, sleep for a second, and read them again; never an error.

    The time between both comes from the ticks themselves, not from a clock.
    """
    before = _ticks(proc)
    waited_us = _waiting_us(proc)
    if before:
        sleep(_BETWEEN_READINGS_S)
    after = _ticks(proc)
    cpus = sum(line[:3] == "cpu" and line[3:4].isdigit() for line in _lines(proc / "stat")) or os.cpu_count() or 1
    grown = {name: max(0, after.get(name, 0) - ticks) for name, ticks in before.items()}
    total = sum(grown.values())
    if not total:
        return MachineNow(cpus=cpus, used=None, steal=None, waiting=None, load=_load(proc))
    stolen = grown.get("steal", 0)
    used = cpus * (total - grown["idle"] - grown.get("iowait", 0) - stolen) / total
    waiting = None
    if waited_us is not None and (now_us := _waiting_us(proc)) is not None:
        elapsed_us = total / cpus / os.sysconf("SC_CLK_TCK") * 1e6
        waiting = min(1.0, (now_us - waited_us) / elapsed_us)
    return MachineNow(cpus=cpus, used=used, steal=cpus * stolen / total, waiting=waiting, load=_load(proc))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _ticks(proc: Path) -> dict[str, int]:
    """The kernel's columns of all CPUs together; empty where there are none."""
    words = (_lines(proc / "stat") or [""])[0].split()
    numbers = words[1 : 1 + len(_STAT)]
    if words[:1] != ["cpu"] or len(numbers) < 4 or not all(number.isdigit() for number in numbers):
        return {}
    return dict(zip(_STAT, map(int, numbers), strict=False))


def _waiting_us(proc: Path) -> int | None:
    """The first line's total: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`."""
    total = (_lines(proc / "pressure" / "cpu") or [""])[0].rpartition("total=")[2]
    return int(total) if total.isdigit() else None


def _load(proc: Path) -> float | None:
    """Of the last minute: from /proc, or where there is none from the system."""
    lines = _lines(proc / "loadavg")
    try:
        return float(lines[0].split()[0]) if lines else os.getloadavg()[0]
    except (ValueError, IndexError, OSError):
        return None
