"""A host: a network namespace, a cgroup, and a first process that holds its other namespaces.

    keeper            in the machine's own namespaces; watches the expiry, removes the host when it has come
    `-- first process  pid 1 of the host; when it ends, the kernel ends everything on the host

If the keeper dies, the kernel ends the first process: a host never outlives who watches its expiry.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from orchlab import cgroups, inside, layout, ownership, processes
from orchlab.errors import LabError

PROGRAM = Path(__file__).resolve().parent.parent / "provider.py"
NETNS = ownership.NETNS
_READY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A host as Terraform asks for it; see infra/lab/main.tf."""

    run_id: str
    name: str
    zone: str
    machine: str
    cpu_cores: float | None
    memory_mib: int | None
    ttl_seconds: int
    ssh_public_key: str
    host_key_path: str

    @property
    def instance(self) -> str:
        """What everything of it is named."""
        return layout.instance_name(self.run_id, self.name)


def ip(*arguments: str) -> None:
    """Run `ip`. LabError with its words when it fails."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"ip {' '.join(arguments)}: {done.stderr.strip() or f'exit status {done.returncode}'}")


def up(spec: Spec) -> None:
    """Make a host, or nothing: what a failed try made is removed again. LabError says why."""
    down(spec.run_id, spec.name)
    refuse_strangers_namespace(spec.instance)
    try:
        folder = layout.host_dir(spec.run_id, spec.name)
        layout.make_dir(folder)
        layout.write_record(folder / "spec.json", vars(spec))
        inside.prepare(folder, spec.instance, public_key=spec.ssh_public_key, host_key=Path(spec.host_key_path))
        ip("netns", "add", spec.instance)
        ip(*ownership.marking(spec.run_id, spec.instance)[1:])
        ip("-n", spec.instance, "link", "set", "lo", "up")
        _start_keeper(spec, folder)
    except BaseException:  # also when interrupted: Terraform does not clean up after a failed create
        ignore_interrupts()
        down(spec.run_id, spec.name)
        raise


def _start_keeper(spec: Spec, folder: Path) -> None:
    """Start the keeper detached, and wait until it says that the host stands."""
    argv = [sys.executable, "-ES", str(PROGRAM), "keep", "--run-id", spec.run_id, "--host", spec.name]
    if runs_systemd():
        # Groups below a scope of their own are ours by agreement; elsewhere systemd may take the controllers away.
        argv = ["systemd-run", "--scope", "--quiet", "--collect", f"--unit={spec.instance}", "-pDelegate=yes", *argv]
    log = folder / "keeper.log"
    with log.open("w") as errors:
        # Detached, with its output elsewhere: Terraform waits for everyone who holds the output it gave.
        keeper = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, cwd="/"
        )
    assert keeper.stdout is not None  # noqa: S101  (asked for just above)
    with keeper.stdout:
        ready, _, _ = select.select([keeper.stdout], [], [], _READY_S)
        line = keeper.stdout.readline() if ready else b""
    if line.strip() != b"ready":
        keeper.kill()
        keeper.wait()
        words = [line for line in log.read_text().strip().splitlines() if not line.startswith("hint: ")]
        raise LabError(f"host {spec.name} did not come up: {words[-1] if words else f'silent for {_READY_S:g} s'}")


def runs_systemd() -> bool:
    """Whether systemd runs this machine with cgroup v2 alone (with version 1 there is nothing to delegate)."""
    return Path("/run/systemd/system").is_dir() and Path("/sys/fs/cgroup/cgroup.controllers").is_file()


def keep(run_id: str, name: str) -> None:
    """The keeper: make the host's group and first process, say `ready`, wait for the end or the expiry."""
    folder = layout.host_dir(run_id, name)
    spec = Spec(**(layout.read_record(folder / "spec.json") or {}))
    record: dict[str, Any] = {"name": name, "zone": spec.zone, "machine": spec.machine}
    record["keeper"] = processes.handle(os.getpid()).to_dict()
    layout.write_record(folder / "host.json", record)  # before anything is made, so that `down` finds the keeper

    tree = cgroups.find_tree(Path("/proc/mounts").read_text())
    if runs_systemd():
        tree = cgroups.delegated(tree, Path("/proc/self/cgroup").read_text())
    limits = cgroups.Limits(cpu_cores=spec.cpu_cores, memory_mib=spec.memory_mib)
    if any(folder.is_dir() for folder in tree.group(spec.instance).folders):
        raise LabError(f"there is a cgroup {spec.instance} that is not ours", hint="remove it by hand, or run anew")
    # Recorded before it is made: `down` removes no group that has no record.
    layout.write_record(folder / "host.json", record | {"cgroup": tree.group(spec.instance).to_dict()})
    group = cgroups.create(tree, spec.instance, limits)
    expires_at = time.time() + spec.ttl_seconds
    deadline = _boot_seconds() + spec.ttl_seconds
    record |= {"cgroup": group.to_dict(), "period_us": cgroups.PERIOD_US, "expires_at": round(expires_at)}
    layout.write_record(folder / "host.json", record)

    first = inside.start_first_process(folder, NETNS / spec.instance, spec.instance, group)
    layout.write_record(folder / "host.json", record | {"first": processes.handle(first).to_dict()})
    print("ready", flush=True)
    let_go_of_output()
    if _ended_before(first, deadline):
        return  # `status` says so; what is left waits for `down`
    _remove(run_id, name, group)
    _leave_if_last(run_id)


def _boot_seconds() -> float:
    """Seconds since boot, time asleep included: a laptop's lid does not prolong an expiry."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def let_go_of_output() -> None:
    """Whoever started the keeper reads to the end of its output; the log stays for what goes wrong later."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


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
    from orchlab import sweeping  # imported here: sweeping uses this module

    if not layout.hosts_on_record(run_id):
        sweeping.sweep(run_id)


def refuse_strangers_namespace(instance: str) -> None:
    """LabError when a namespace of that name is there; ours are removed by now, so it is somebody else's."""
    if (NETNS / instance).exists():
        raise LabError(
            f"there is a network namespace {instance} that is not ours", hint=f"look at it: ip netns pids {instance}"
        )


def down(run_id: str, name: str) -> None:
    """Remove a host, whatever is left of it. Idempotent; LabError when something cannot be removed.

    What only has its name and is not ours is left alone.
    """
    if not ownership.is_ours(run_id, name):
        return
    group = None
    if layout.read_record(layout.host_dir(run_id, name) / "host.json") is None and ownership.is_marked(run_id, name):
        with suppress(LabError):  # no cgroups on this machine, so none of ours
            group = cgroups.find_tree(Path("/proc/mounts").read_text()).group(layout.instance_name(run_id, name))
    _remove(run_id, name, group)


def _remove(run_id: str, name: str, group: cgroups.Group | None) -> None:
    """Remove a host of ours; `group` is its cgroup where no record names it."""
    instance = layout.instance_name(run_id, name)
    folder = layout.host_dir(run_id, name)
    record = layout.read_record(folder / "host.json") or {}
    for role in ("keeper", "first"):
        process = processes.from_record(record.get(role))
        if process and process.pid != os.getpid():
            processes.end(process)
    recorded = cgroups.group_from_record(record.get("cgroup")) or group
    if recorded is not None:
        cgroups.remove(recorded)
    remove_namespace(instance)
    if folder.exists():
        shutil.rmtree(folder)
    layout.remove_empty(run_id)


def remove_namespace(instance: str) -> None:
    """End what still runs in a network namespace and remove it. Idempotent."""
    if not (NETNS / instance).exists():
        return
    listed = subprocess.run(["ip", "netns", "pids", instance], capture_output=True, text=True, check=False)
    processes.end_all(int(pid) for pid in listed.stdout.split())
    ip("netns", "del", instance)


def why_not_alive(record: dict[str, Any] | None, instance: str) -> str | None:
    """What is wrong with a host; None when nothing is."""
    if record is None:
        return "there is no such host on this machine"
    first = processes.from_record(record.get("first"))
    if first is not None and first.boot_id != processes.boot_id():
        return "the machine was rebooted"
    if not processes.is_alive(first):
        return "its first process has ended"
    if not processes.is_alive(processes.from_record(record.get("keeper"))):
        return "its keeper has ended"
    if not (NETNS / instance).exists():
        return "its network namespace is gone"
    return None


def serve_ssh(run_id: str, name: str) -> NoReturn:
    """Become the SSH server of one connection, on the host: what ProxyCommand runs. LabError when the host is gone."""
    instance = layout.instance_name(run_id, name)
    record = layout.read_record(layout.host_dir(run_id, name) / "host.json")
    why = why_not_alive(record, instance)
    group = cgroups.group_from_record((record or {}).get("cgroup"))
    if why or record is None or group is None:
        raise LabError(f"lab host {instance} cannot be reached: {why}", hint="see provider.py status", exit_code=255)
    argv = inside.sshd_argv(record["first"]["pid"], layout.host_dir(run_id, name))
    cgroups.join(group)
    os.execvp(argv[0], argv)


def spec_from_json(text: str) -> Spec:
    """The host that Terraform asks for. LabError when the text is not what main.tf sends."""
    try:
        return Spec(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise LabError(f"the host's description does not read: {error}", exit_code=2) from error


def heed_interrupts() -> None:
    """Turn SIGTERM and SIGINT into exceptions, so that a half-made thing is removed when Terraform is told to stop.

    Also where SIGINT came ignored, as it does to whatever a shell started in the background.
    """
    signal.signal(signal.SIGTERM, lambda signum, _frame: sys.exit(128 + signum))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Finish cleaning up: an impatient second Ctrl-C would leave behind what the first one started to remove."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
