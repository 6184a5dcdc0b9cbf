"""Whether this machine is busy right now, from two readings of /proc/stat a second apart: a warning, never a failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_BETWEEN_READINGS_S = 1.0

# From here on a reading is worth a warning; the check `noise` judges each trial afterwards.
_STEAL_CPUS = 0.05
_USED_CPUS = 0.25

_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

_ADVICE = (
    "That means: latencies taken now hold what the other work does to them: differences between stacks are blurred, and the"
    " answer may be `not resolved`. What to do: end what else runs here, or wait;"
    " `--set repeats=10` helps against what comes and goes"
)


@dataclass(frozen=True, kw_only=True)
class MachineNow:
    """What else this machine did in a second in which orch slept, in CPUs; None where the system does not count it."""

    cpus: int
    used: float | None
    steal: float | None

    def signs(self) -> list[str]:
        """What makes it busy, as clauses; none when it is quiet, or nothing is counted."""
        signs = []
        cpus = f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}"
        if self.steal is not None and self.steal > _STEAL_CPUS:
            signs.append(f"the hypervisor took {self.steal:.2f} of {cpus} away")
        if self.used is not None and self.used > _USED_CPUS:
            signs.append(f"other programs used {self.used:.2f} of {cpus}")
        return signs

    def warning(self) -> str:
        """What was seen, what it means and what to do; empty when the machine is quiet."""
        if not (signs := self.signs()):
            return ""
        return f"this machine is busy right now: {', and '.join(signs)}. {_ADVICE}"


def look(stat: Path = _STAT, sleep: Callable[[float], None] = time.sleep) -> MachineNow:
    """Read the counters, sleep for a second, and read them again; never an error.

    The time between both comes from the ticks themselves, not from a clock.
    """
    before, cpus = _ticks(stat)
    if before:
        sleep(_BETWEEN_READINGS_S)
    after, _ = _ticks(stat)
    grown = {name: max(0, after.get(name, 0) - ticks) for name, ticks in before.items()}
    total = sum(grown.values())
    if not total:
        return MachineNow(cpus=cpus, used=None, steal=None)
    stolen = grown.get("steal", 0)
    used = cpus * (total - grown["idle"] - grown.get("iowait", 0) - stolen) / total
    return MachineNow(cpus=cpus, used=used, steal=cpus * stolen / total)


def _ticks(stat: Path) -> tuple[dict[str, int], int]:
    """The kernel's columns of all CPUs together, and how many CPUs there are; empty where there are none."""
    try:
        first, *others = stat.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return {}, 1
    cpus = sum(line.startswith("cpu") for line in others)
    return dict(zip(_COLUMNS, map(int, first.split()[1 : 1 + len(_COLUMNS)]), strict=False)), cpus or 1
