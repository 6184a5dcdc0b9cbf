"""Where a deployment's files lie, and how its things are named.

    /var/lib/orch-lab/<run>/network.json            the /24 it claimed
    /var/lib/orch-lab/<run>/hosts/<host>/           host.json, sshd's files, the host's own folders
    /var/lib/orch-lab/<run>/opt/                    /opt of all its hosts: what is installed once is there for all
    /var/lib/orch-lab/<run>/link/                   link.json, the emulator's log

On disk, not under /run: /opt holds a virtual environment, and /run is memory. Network namespaces and cgroups
are named `orch-<run>-<host>`; a run id has no hyphen, so the name splits in one way only.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchlab.errors import LabError

ROOT = Path("/var/lib/orch-lab")
LINK = "link"
_NAME = re.compile(r"orch-(?P<run>[a-z0-9]{1,20})-(?P<host>[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?)")


def instance_name(run_id: str, host: str) -> str:
    """The name that everything of a host carries.

    >>> instance_name("a1b2", "requester-1")
    'orch-a1b2-requester-1'
    """
    return f"orch-{run_id}-{host}"


def split_name(name: str) -> tuple[str, str] | None:
    """Run id and host of an instance name; None when the name is not one of ours.

    >>> split_name("orch-a1b2-requester-1")
    ('a1b2', 'requester-1')
    >>> split_name("docker0") is None
    True
    """
    match = _NAME.fullmatch(name)
    return (match["run"], match["host"]) if match else None


def checked_run_id(run_id: str) -> str:
    """The run id itself; LabError when it could not be part of a name (or would leave the lab's folder)."""
    if not re.fullmatch(r"[a-z0-9]{1,20}", run_id):
        raise LabError(f"run id {run_id!r} is not 1 to 20 characters of a-z and 0-9", exit_code=2)
    return run_id


def run_dir(run_id: str) -> Path:
    """The folder of a deployment."""
    return ROOT / run_id


def host_dir(run_id: str, host: str) -> Path:
    """The folder of a host."""
    return ROOT / run_id / "hosts" / host


def opt_dir(run_id: str) -> Path:
    """What every host of a deployment has as its /opt."""
    return ROOT / run_id / "opt"


def link_dir(run_id: str) -> Path:
    """The folder of a deployment's link."""
    return ROOT / run_id / LINK


def hosts_on_record(run_id: str) -> list[str]:
    """The hosts that have a folder, sorted."""
    folder = ROOT / run_id / "hosts"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def runs_on_record() -> list[str]:
    """The deployments that have a folder, sorted."""
    return sorted(path.name for path in ROOT.iterdir() if path.is_dir()) if ROOT.is_dir() else []


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(record, indent=2) + "\n")
    draft.replace(path)


def read_record(path: Path) -> dict[str, Any] | None:
    """What `write_record` wrote; None when there is no such file."""
    try:
        record: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return record


def make_dir(folder: Path) -> None:
    """Make a folder of a deployment; no `remove_empty` of another host comes between it and its parents."""
    with locked_root():
        folder.mkdir(parents=True, mode=0o700)


def make_host_dir(run_id: str, host: str) -> Path:
    """Make the folder of a host, and the deployment's /opt with the first one."""
    folder = host_dir(run_id, host)
    with locked_root():
        folder.mkdir(parents=True, mode=0o700)
        opt_dir(run_id).mkdir(mode=0o755, exist_ok=True)
    return folder


def remove_empty(run_id: str) -> None:
    """Remove the deployment's folders that hold nothing any more, up to the lab's own; /opt with the last host."""
    with locked_root():
        if not hosts_on_record(run_id):
            shutil.rmtree(opt_dir(run_id), ignore_errors=True)
        for folder in (ROOT / run_id / "hosts", ROOT / run_id, ROOT):
            try:
                folder.rmdir()
            except OSError:  # not empty, or not there: both are fine
                continue


@contextmanager
def locked_root() -> Iterator[None]:
    """Hold the lab's folder for oneself. The last one out removes it, so the lock is on whichever folder is current."""
    while True:
        ROOT.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            handle = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # removed in between
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if ROOT.is_dir() and os.path.samestat(os.fstat(handle), ROOT.stat()):
                yield
                return
        finally:
            os.close(handle)
