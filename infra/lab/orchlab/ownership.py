"""What on this machine is the lab's. Names alone decide nothing: other programs name namespaces and cgroups too.

A host or a link is ours where the lab's folder has a record of it, written before anything is made and removed last; or
where its namespace carries our mark, on the loopback device, so that it is still known when the record is lost.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from orchlab import layout

NETNS = Path("/run/netns")


def marking(run_id: str, instance: str) -> list[str]:
    """The command that writes our mark into a namespace."""
    return ["ip", "-n", instance, "link", "set", "dev", "lo", "alias", _mark(run_id)]


def is_ours(run_id: str, name: str) -> bool:
    """Whether a host, or the link, is ours: by its record, or by the mark of its namespace."""
    folder = layout.link_dir(run_id) if name == layout.LINK else layout.host_dir(run_id, name)
    return folder.is_dir() or is_marked(run_id, name)


def is_marked(run_id: str, name: str) -> bool:
    """Whether the namespace of a host, or of the link, carries our mark."""
    instance = layout.instance_name(run_id, name)
    if not (NETNS / instance).exists():
        return False
    command = ["ip", "-n", instance, "-json", "link", "show", "dev", "lo"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and any(row.get("ifalias") == _mark(run_id) for row in json.loads(done.stdout or "[]"))


def _mark(run_id: str) -> str:
    return f"app=orch orch-run={run_id}"
