"""Network namespaces: made and removed by `ip`."""

from __future__ import annotations

import subprocess

from orchlab import ownership, processes
from orchlab.errors import LabError

NETNS = ownership.NETNS


def ip(*arguments: str) -> None:
    """Run `ip`. LabError with its words when it fails."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"ip {' '.join(arguments)}: {done.stderr.strip() or f'exit status {done.returncode}'}")


def refuse_strangers_namespace(instance: str) -> None:
    """LabError when a namespace of that name is there; ours are removed by now, so it is somebody else's."""
    if (NETNS / instance).exists():
        raise LabError(
            f"there is a network namespace {instance} that is not ours", hint=f"look at it: ip netns pids {instance}"
        )


def remove_namespace(instance: str) -> None:
    """End what still runs in a network namespace and remove it. Idempotent."""
    if not (NETNS / instance).exists():
        return
    listed = subprocess.run(["ip", "netns", "pids", instance], capture_output=True, text=True, check=False)
    processes.end_all(int(pid) for pid in listed.stdout.split())
    ip("netns", "del", instance)
