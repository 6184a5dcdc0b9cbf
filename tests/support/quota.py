"""A real CPU quota: a cgroup of version 1 or 2 that lets a process run for a twentieth of the time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PERIOD_US = 100_000
_QUOTA_US = 5_000


def tree() -> Path | None:
    """The folder under which this process may make groups with a CPU quota; None where it may not."""
    root = Path("/sys/fs/cgroup")
    for folder, needed in ((root / "cpu", "cpu.cfs_quota_us"), (root, "cgroup.controllers")):
        if (folder / needed).exists() and os.access(folder, os.W_OK):
            version_2 = needed == "cgroup.controllers"
            if not version_2 or "cpu" in (root / "cgroup.subtree_control").read_text().split():
                return folder
    return None


@contextmanager
def throttled(pid: int) -> Iterator[None]:
    """The process has five milliseconds of CPU in each hundred, until the block ends."""
    root = tree()
    group = root / f"orch-test-{pid}"
    group.mkdir()
    try:
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{_QUOTA_US} {_PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(_QUOTA_US))
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for member in (group / "cgroup.procs").read_text().split():
            (root / "cgroup.procs").write_text(member)
        group.rmdir()
