"""The peak of resident memory: begun anew where the kernel can, of the whole life of the process elsewhere."""

from __future__ import annotations

import mmap
import resource
import sys
from pathlib import Path

import pytest

from services.python.probes.memory import PeakMemory

MIB = 2**20


def of_this_system() -> Path:
    own = Path("/proc/self")
    if not (own / "clear_refs").exists():
        pytest.skip("this kernel cannot begin a peak anew (no /proc/self/clear_refs)")
    return own


def touch(size: int) -> None:
    """Have so many bytes resident for a moment."""
    with mmap.mmap(-1, size) as pages:
        for place in range(0, size, mmap.PAGESIZE):
            pages[place] = 1


def test_a_peak_is_what_was_resident_since_it_began():
    of_this_system()
    touch(200 * MIB)
    memory = PeakMemory()
    life, since = memory.read()
    assert since == "process"
    memory.begin()
    begun, since = memory.read()
    assert since == "phase"
    assert begun < life - 100 * MIB
    touch(64 * MIB)
    peak, _ = memory.read()
    assert begun + 50 * MIB < peak < begun + 100 * MIB


def test_where_it_cannot_begin_anew_it_is_said_to_be_of_the_whole_life(tmp_path: Path):
    (tmp_path / "status").write_text("Name:\tpython\nVmPeak:\t  9000 kB\nVmHWM:\t  4321 kB\nVmRSS:\t  1000 kB\n")
    (tmp_path / "clear_refs").mkdir()  # as one that cannot be written to
    memory = PeakMemory(tmp_path)
    memory.begin()
    assert memory.read() == (4321 * 1024, "process")


def test_a_system_without_proc_has_the_peak_of_the_process(tmp_path: Path):
    memory = PeakMemory(tmp_path / "no such folder")
    memory.begin()
    peak, since = memory.read()
    assert since == "process"
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    assert 0 < peak <= largest
