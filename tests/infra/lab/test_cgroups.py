"""Where limits are written, on trees of files that look like the kernel's: version 1, version 2, hybrid, delegated."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from unittest import mock

import pytest
from orchlab import cgroups
from orchlab.cgroups import Limits, Tree
from orchlab.errors import LabError

F1_MICRO = Limits(cpu_cores=0.2, memory_mib=614)
UNLIMITED = Limits(cpu_cores=None, memory_mib=None)


def version_2(root: Path, controllers: str = "cpuset cpu io memory pids") -> str:
    root.mkdir(exist_ok=True)
    (root / "cgroup.controllers").write_text(controllers + "\n")
    (root / "cgroup.subtree_control").write_text("\n")
    return f"cgroup2 {root} cgroup2 rw,nosuid 0 0\n"


def version_1(root: Path) -> str:
    rows = ""
    for options in ("cpu,cpuacct", "memory"):
        (root / options).mkdir(parents=True)
        rows += f"cgroup {root / options} cgroup rw,nosuid,{options} 0 0\n"
    return rows


def test_version_2_is_taken_where_it_has_the_controllers(tmp_path: Path) -> None:
    tree = cgroups.find_tree(version_1(tmp_path / "v1") + version_2(tmp_path / "v2"))
    assert tree == Tree(version=2, cpu=tmp_path / "v2", memory=tmp_path / "v2")


def test_a_hybrid_setup_has_its_controllers_in_version_1(tmp_path: Path) -> None:
    tree = cgroups.find_tree(version_2(tmp_path / "unified", "hugetlb") + version_1(tmp_path / "v1"))
    limits = tmp_path / "v1" / "cpu,cpuacct"
    assert tree == Tree(version=1, cpu=limits, memory=tmp_path / "v1" / "memory", counting=limits)


def test_version_1_counts_a_hosts_cpu_time_where_that_is_a_tree_of_its_own(tmp_path: Path) -> None:
    mounts = ""
    for controller in ("cpu", "cpuacct", "memory"):
        (tmp_path / controller).mkdir()
        mounts += f"cgroup {tmp_path / controller} cgroup rw,{controller} 0 0\n"
    group = cgroups.create(cgroups.find_tree(mounts), "host", UNLIMITED)
    assert group.folders == [tmp_path / "cpu" / "host", tmp_path / "memory" / "host", tmp_path / "cpuacct" / "host"]
    assert all(folder.is_dir() for folder in group.folders)
    assert cgroups.group_from_record(group.to_dict()) == group


def test_a_missing_controller_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no memory cgroup controller") as caught:
        cgroups.find_tree(f"cgroup {tmp_path} cgroup rw,cpu 0 0\n")
    assert caught.value.exit_code == 3
    assert "cgroup_enable=memory" in (caught.value.hint or "")


def test_an_f1_micro_in_version_2(tmp_path: Path) -> None:
    tree = cgroups.find_tree(version_2(tmp_path))
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "memory.swap.max").write_text("max")
    group = cgroups.create(tree, "host", F1_MICRO)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory"
    assert (group.cpu / "cpu.max").read_text() == "20000 100000"
    assert (group.memory / "memory.max").read_text() == str(614 * 1024 * 1024)
    assert (group.memory / "memory.swap.max").read_text() == "0"


def test_a_container_that_may_not_divide_its_group_is_told_so(tmp_path: Path) -> None:
    tree = cgroups.find_tree(version_2(tmp_path))
    busy = OSError(errno.EBUSY, "Device or resource busy")
    with (
        mock.patch.object(Path, "write_text", side_effect=busy),
        pytest.raises(LabError, match="cannot be divided: Device or resource busy") as caught,
    ):
        cgroups.create(tree, "host", F1_MICRO)
    assert "--cgroupns=host" in (caught.value.hint or "")


def test_an_f1_micro_in_version_1(tmp_path: Path) -> None:
    group = cgroups.create(cgroups.find_tree(version_1(tmp_path)), "host", F1_MICRO)
    assert (group.cpu / "cpu.cfs_period_us").read_text() == "100000"
    assert (group.cpu / "cpu.cfs_quota_us").read_text() == "20000"
    assert (group.memory / "memory.limit_in_bytes").read_text() == str(614 * 1024 * 1024)
    assert not (group.memory / "memory.memsw.limit_in_bytes").exists()


def test_what_systemd_delegated_is_used_below_a_leaf_for_the_keeper(tmp_path: Path) -> None:
    scope = tmp_path / "system.slice" / "orch-x-a.scope"
    (scope / "keeper").mkdir(parents=True)
    (scope / "cgroup.procs").write_text(f"{os.getpid()}\n")
    tree = cgroups.delegated(Tree(version=2, cpu=tmp_path, memory=tmp_path), "0::/system.slice/orch-x-a.scope\n")
    assert tree == Tree(version=2, cpu=scope, memory=scope)
    assert (scope / "keeper" / "cgroup.procs").read_text() == str(os.getpid())


def test_a_record_gives_the_group_back(tmp_path: Path) -> None:
    group = Tree(version=1, cpu=tmp_path / "c", memory=tmp_path / "m").group("host")
    assert cgroups.group_from_record(group.to_dict()) == group
    assert cgroups.group_from_record(None) is None
