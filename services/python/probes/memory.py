"""The most memory that this process has had at a time, resident, since a moment of its choice where the kernel can tell."""

from __future__ import annotations

import re
from pathlib import Path

from services.python.contract.lines import Since

_OWN = Path("/proc/self")
_FORGET_PEAK = "5"  # of /proc/PID/clear_refs: the peak becomes what is resident now (proc(5), Linux 4.0)


class PeakMemory:
    """A peak that can begin anew. It is the whole process's: interpreter, libraries, buffers, and files that it maps."""

    def __init__(self, own: Path = _OWN) -> None:
        self._own = own
        self._since: Since = "process"

    def begin(self) -> None:
        """Count from here on, where the kernel can."""
        try:
            (self._own / "clear_refs").write_text(_FORGET_PEAK)
        except OSError:
            return
        self._since = "phase"

    def read(self) -> tuple[int, Since]:
        """The peak in bytes, and since when it counts."""
        peak = re.search(r"^VmHWM:\s+(\d+) kB$", (self._own / "status").read_text(), re.MULTILINE)
        assert peak is not None  # noqa: S101 - of every process of Linux
        return int(peak[1]) * 1024, self._since
