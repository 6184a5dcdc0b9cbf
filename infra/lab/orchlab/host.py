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
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from orchlab import cgroups, inside, interrupts, layout, namespaces, ownership, processes
from orchlab.errors import LabError

PROGRAM = Path(__file__).resolve().parent.parent / "provider.py"
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


def up(spec: Spec) -> None:
    """Make a host, or nothing: what a failed try made is removed again. LabError says why."""
    down(spec.run_id, spec.name)
    namespaces.refuse_strangers_namespace(spec.instance)
    try:
        folder = layout.make_host_dir(spec.run_id, spec.name)
        layout.write_record(folder / "spec.json", vars(spec))
        inside.prepare(folder, spec.instance, public_key=spec.ssh_public_key, host_key=Path(spec.host_key_path))
        namespaces.ip("netns", "add", spec.instance)
        namespaces.ip(*ownership.marking(spec.run_id, spec.instance)[1:])
        namespaces.ip("-n", spec.instance, "link", "set", "lo", "up")
        _start_keeper(spec, folder)
    except BaseException:  # also when interrupted: Terraform does not clean up after a failed create
        interrupts.ignore_interrupts()
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
    remove(run_id, name, group)


def remove(run_id: str, name: str, group: cgroups.Group | None) -> None:
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
    namespaces.remove_namespace(instance)
    if folder.exists():
        shutil.rmtree(folder)
    layout.remove_empty(run_id)


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
    if not (namespaces.NETNS / instance).exists():
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
        raise LabError(f"cannot parse the description of the host: {error}", exit_code=2) from error
