"""CPU and memory of a host: a cgroup of version 2 where its controllers are there, else of version 1.

The quota shapes the tail of a latency, so the period is a constant that is recorded with the host: with 100 ms, a
request that needs more than the quota's share waits for the next period.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchlab import processes
from orchlab.errors import LabError

PERIOD_US = 100_000
_CONTROLLERS = ("cpu", "memory")
_COUNTER = "cpuacct"  # of version 1


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a host may use; None is no limit."""

    cpu_cores: float | None
    memory_mib: int | None

    @property
    def quota_us(self) -> int | None:
        """CPU time per period."""
        return None if self.cpu_cores is None else round(self.cpu_cores * PERIOD_US)

    @property
    def memory_bytes(self) -> int | None:
        """Memory, page cache included."""
        return None if self.memory_mib is None else self.memory_mib * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Where groups are made: one folder per controller with version 1, the same folder twice with version 2."""

    version: Literal[1, 2]
    cpu: Path
    memory: Path
    counting: Path | None = None  # where version 1 counts CPU time, if apart from its limits; version 2 does both

    def group(self, name: str) -> Group:
        """The group of that name, whether it is there or not."""
        counting = self.counting / name if self.counting else None
        return Group(version=self.version, cpu=self.cpu / name, memory=self.memory / name, counting=counting)

    def group_names(self) -> set[str]:
        """The names of the groups directly below."""
        return {
            path.name
            for root in (self.cpu, self.memory, self.counting)
            if root and root.is_dir()
            for path in root.iterdir()
            if path.is_dir()
        }


@dataclass(frozen=True, kw_only=True)
class Group:
    """A host's group."""

    version: Literal[1, 2]
    cpu: Path
    memory: Path
    counting: Path | None = None

    @property
    def folders(self) -> list[Path]:
        """Each folder once."""
        return list(dict.fromkeys(filter(None, [self.cpu, self.memory, self.counting])))

    def to_dict(self) -> dict[str, Any]:
        """For a record."""
        counting = str(self.counting) if self.counting else None
        return {"version": self.version, "cpu": str(self.cpu), "memory": str(self.memory), "counting": counting}


def group_from_record(record: dict[str, Any] | None) -> Group | None:
    """What `Group.to_dict` gave; None when nothing was recorded."""
    if not record:
        return None
    counting = Path(record["counting"]) if record["counting"] else None
    return Group(version=record["version"], cpu=Path(record["cpu"]), memory=Path(record["memory"]), counting=counting)


def find_tree(mounts: str) -> Tree:
    """Where this machine's cpu and memory controllers are, from the text of /proc/mounts.

    Version 2 counts only with both controllers: in a hybrid set-up its folder is there without them.
    LabError when a controller is nowhere.
    """
    rows = [line.split() for line in mounts.splitlines()]
    for row in rows:
        if row[2] == "cgroup2" and _has_controllers(Path(row[1])):
            return Tree(version=2, cpu=Path(row[1]), memory=Path(row[1]))
    places: dict[str, Path] = {}
    for row in rows:
        if row[2] == "cgroup":
            for controller in {*_CONTROLLERS, _COUNTER} & set(row[3].split(",")):
                places.setdefault(controller, Path(row[1]))
    missing = [controller for controller in _CONTROLLERS if controller not in places]
    if missing:
        raise LabError(
            f"this kernel offers no {' and no '.join(missing)} cgroup controller, so hosts cannot be given a size",
            hint="mount cgroup2 on /sys/fs/cgroup; for memory boot with cgroup_enable=memory",
            exit_code=3,
        )
    return Tree(version=1, cpu=places["cpu"], memory=places["memory"], counting=places.get(_COUNTER))


def _has_controllers(root: Path) -> bool:
    controllers = root / "cgroup.controllers"
    return controllers.is_file() and set(_CONTROLLERS) <= set(controllers.read_text().split())


def delegated(tree: Tree, own_cgroup: str) -> Tree:
    """The subtree that systemd delegated to the calling process, from the text of its /proc/self/cgroup.

    A group with controllers may not hold processes itself, so processes in it move to a leaf first.
    """
    path = next(line.removeprefix("0::/") for line in own_cgroup.splitlines() if line.startswith("0::"))
    scope = tree.cpu / path
    leaf = scope / "keeper"
    leaf.mkdir(exist_ok=True)
    for pid in (scope / "cgroup.procs").read_text().split():
        (leaf / "cgroup.procs").write_text(pid)
    return Tree(version=2, cpu=scope, memory=scope)


def create(tree: Tree, name: str, limits: Limits) -> Group:
    """Make a group and set its limits."""
    group = tree.group(name)
    if group.version == 2:
        _enable_controllers(tree.cpu)
        group.cpu.mkdir(exist_ok=True)
        quota = "max" if limits.quota_us is None else str(limits.quota_us)
        (group.cpu / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        (group.memory / "memory.max").write_text("max" if limits.memory_bytes is None else str(limits.memory_bytes))
        _write_if_there(group.memory / "memory.swap.max", "0")
        return group
    for folder in group.folders:
        folder.mkdir(exist_ok=True)
    (group.cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group.cpu / "cpu.cfs_quota_us").write_text(str(-1 if limits.quota_us is None else limits.quota_us))
    if limits.memory_bytes is not None:
        (group.memory / "memory.limit_in_bytes").write_text(str(limits.memory_bytes))
        _write_if_there(group.memory / "memory.memsw.limit_in_bytes", str(limits.memory_bytes))
    return group


def _enable_controllers(root: Path) -> None:
    """Let groups below have limits. LabError in a container, whose own processes sit in what it takes for the root."""
    control = root / "cgroup.subtree_control"
    if set(_CONTROLLERS) <= set(control.read_text().split()):
        return
    try:
        control.write_text("+cpu +memory")
    except OSError as error:
        raise LabError(
            f"cgroup {root} cannot be divided: {error.strerror}",
            hint="in a container: start it with --cgroupns=host --privileged, or use the machine itself",
            exit_code=3,
        ) from error


def _write_if_there(path: Path, text: str) -> None:
    """Swap accounting is a kernel option: without it the file is missing, and there is nothing to limit."""
    if path.exists():
        path.write_text(text)


def join(group: Group) -> None:
    """Move the calling process into a group (0 is oneself, whatever the pid namespace calls one)."""
    for folder in group.folders:
        (folder / "cgroup.procs").write_text("0")


def members(group: Group) -> list[int]:
    """The pids in a group; none when it is gone."""
    pids: set[int] = set()
    for folder in group.folders:
        with suppress(FileNotFoundError, OSError):
            pids.update(int(pid) for pid in (folder / "cgroup.procs").read_text().split())
    return sorted(pids)


def remove(group: Group) -> None:
    """End what is in a group and remove it. Idempotent. OSError when the kernel keeps it busy for ten seconds."""
    deadline = time.monotonic() + 10.0
    for folder in group.folders:
        while folder.is_dir():
            processes.end_all(members(group))
            try:
                folder.rmdir()
            except FileNotFoundError:
                break
            except OSError:  # busy: an ended process leaves its group a moment after it is gone from view
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
