"""Whether this machine is busy right now, from two readings of /proc/stat a second apart: a warning, never a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_BETWEEN_READINGS_S = 1.0
_STEAL_CPUS, _USED_CPUS = 0.05, 0.25  # from here on it is worth a warning; the check `noise` judges each trial after
_IDLE, _IOWAIT, _STEAL, _COLUMNS = 3, 4, 7, 8

ADVICE = (
    "differences between stacks are blurred, and the answer may be `not resolved`: end what else runs here, or wait;"
    " `--set repeats=10` helps against what comes and goes"
)


@dataclass(frozen=True, kw_only=True)
class MachineNow:
    """CPUs that other programs used, and that the hypervisor took away; None where nothing is counted."""

    cpus: int
    used: float | None
    steal: float | None

    def sign(self) -> str:
        """What makes it busy, as a clause; empty when it is quiet."""
        steal = f"the hypervisor took {self.steal or 0:.2f} of {self.cpus} CPUs away"
        used = f"other programs used {self.used or 0:.2f} of {self.cpus} CPUs"
        signs = [steal] if (self.steal or 0) > _STEAL_CPUS else []
        return ", and ".join([*signs, used] if (self.used or 0) > _USED_CPUS else signs)

    def warning(self) -> str:
        """What was seen, what it means and what to do; empty when the machine is quiet."""
        return f"this machine is busy right now: {sign}; {ADVICE}" if (sign := self.sign()) else ""


def look(stat: Path = _STAT, sleep: Callable[[float], None] = time.sleep) -> MachineNow:
    """Read the counters, sleep for a second, and read them again; never an error."""
    cpus, before = os.cpu_count() or 1, _ticks(stat)
    if before:
        sleep(_BETWEEN_READINGS_S)
    grown = [max(0, after - first) for first, after in zip(before, _ticks(stat), strict=False)]
    total = sum(grown)
    if not total:
        return MachineNow(cpus=cpus, used=None, steal=None)
    used = total - grown[_IDLE] - grown[_IOWAIT] - grown[_STEAL]
    return MachineNow(cpus=cpus, used=cpus * used / total, steal=cpus * grown[_STEAL] / total)


def _ticks(stat: Path) -> list[int]:
    """The kernel's columns of all CPUs together; empty where there are none."""
    try:
        words = stat.read_text(encoding="utf-8", errors="replace").partition("\n")[0].split()
    except OSError:
        return []
    return [int(word) for word in words[1 : 1 + _COLUMNS]] if len(words) > _COLUMNS else []
