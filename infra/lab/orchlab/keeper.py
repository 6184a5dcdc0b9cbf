"""The keeper of a host: a detached process that makes its group and first process, and watches its expiry.

If the keeper dies, the kernel ends the first process: a host never outlives who watches its expiry.
"""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any

from orchlab import cgroups, host, inside, layout, namespaces, processes, sweeping
from orchlab.errors import LabError


def keep(run_id: str, name: str) -> None:
    """The keeper: make the host's group and first process, say `ready`, wait for the end or the expiry."""
    folder = layout.host_dir(run_id, name)
    spec = host.Spec(**(layout.read_record(folder / "spec.json") or {}))
    record: dict[str, Any] = {"name": name, "zone": spec.zone, "machine": spec.machine}
    record["keeper"] = processes.handle(os.getpid()).to_dict()
    layout.write_record(folder / "host.json", record)  # before anything is made, so that `down` finds the keeper

    tree = cgroups.find_tree(Path("/proc/mounts").read_text())
    if host.runs_systemd():
        tree = cgroups.delegated(tree, Path("/proc/self/cgroup").read_text())
    limits = cgroups.Limits(cpu_cores=spec.cpu_cores, memory_mib=spec.memory_mib)
    if any(folder.is_dir() for folder in tree.group(spec.instance).folders):
        raise LabError(
            f"there is a cgroup {spec.instance} that is not ours", hint="remove it by hand, or start a new run"
        )
    # Recorded before it is made: `down` removes no group that has no record.
    layout.write_record(folder / "host.json", record | {"cgroup": tree.group(spec.instance).to_dict()})
    group = cgroups.create(tree, spec.instance, limits)
    expires_at = time.time() + spec.ttl_seconds
    deadline = _boot_seconds() + spec.ttl_seconds
    record |= {"cgroup": group.to_dict(), "period_us": cgroups.PERIOD_US, "expires_at": round(expires_at)}
    layout.write_record(folder / "host.json", record)

    opt, netns = layout.opt_dir(run_id), namespaces.NETNS / spec.instance
    first = inside.start_first_process(folder, opt, netns, spec.instance, group)
    layout.write_record(folder / "host.json", record | {"first": processes.handle(first).to_dict()})
    print("ready", flush=True)
    processes.let_go_of_output()
    if _ended_before(first, deadline):
        return  # `status` says so; what is left waits for `down`
    host.remove(run_id, name, group)
    _leave_if_last(run_id)


def _boot_seconds() -> float:
    """Seconds since boot, time asleep included: a laptop's lid does not prolong an expiry."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _ended_before(pid: int, deadline: float) -> bool:
    """Wait until a child ends (True) or the deadline has come (False)."""
    pidfd = os.pidfd_open(pid)
    try:
        while (left_s := deadline - _boot_seconds()) > 0:
            # At most half a minute at a time: the clock that `select` waits on stands still while a machine sleeps.
            if select.select([pidfd], [], [], min(left_s, 30.0))[0]:
                os.waitpid(pid, 0)
                return True
    finally:
        os.close(pidfd)
    return False


def _leave_if_last(run_id: str) -> None:
    """The last host to expire takes the link and the network along."""
    if not layout.hosts_on_record(run_id):
        sweeping.sweep(run_id)
