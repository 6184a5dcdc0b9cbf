"""What of ours is there: its health, its expiry, and its removal without any state of Terraform's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchlab import cgroups, host, layout, link, namespaces, network, ownership
from orchlab.errors import LabError


def names() -> dict[str, set[str]]:
    """The hosts of each run, by everything of ours that carries their name: folders, namespaces, cgroups."""
    runs: dict[str, set[str]] = {}
    carriers = {path.name for path in namespaces.NETNS.iterdir()} if namespaces.NETNS.is_dir() else set()
    with suppress(LabError, FileNotFoundError):  # no cgroups on this machine, so none of ours
        carriers |= cgroups.find_tree(Path("/proc/mounts").read_text()).group_names()
    for parts in filter(None, map(layout.split_name, carriers)):
        if ownership.is_ours(*parts):
            runs.setdefault(parts[0], set()).add(parts[1])
    for run_id in layout.runs_on_record():
        runs.setdefault(run_id, set()).update(layout.hosts_on_record(run_id))
        if layout.link_dir(run_id).is_dir():
            runs[run_id].add(layout.LINK)
    return runs


def status(run_id: str) -> dict[str, Any]:
    """The health of a deployment, and what to replace to repair it; see infra/README.md."""
    hosts: dict[str, dict[str, Any]] = {}
    for name in layout.hosts_on_record(run_id):
        record = layout.read_record(layout.host_dir(run_id, name) / "host.json")
        why = host.why_not_alive(record, layout.instance_name(run_id, name))
        hosts[name] = {"alive": why is None, "why": why, "expires_at": (record or {}).get("expires_at")}
    living = [name for name, state in hosts.items() if state["alive"]]
    why = link.why_not_alive(run_id, living)
    kind = (layout.read_record(layout.link_dir(run_id) / "link.json") or {}).get("kind")
    replace = [f'terraform_data.host["{name}"]' for name, state in hosts.items() if not state["alive"]]
    if why is not None:
        replace.append("terraform_data.link")
    if not layout.run_dir(run_id).is_dir():
        replace = ["terraform_data.network"]  # all the rest follows from it
    return {
        "run_id": run_id,
        "hosts": hosts,
        "link": {"kind": kind, "alive": why is None, "why": why},
        "replace": replace,
    }


def listing() -> dict[str, Any]:
    """Everything of ours that is still there, by run."""
    runs = {}
    for run_id, hosts in sorted(names().items()):
        records = [layout.read_record(layout.host_dir(run_id, name) / "host.json") or {} for name in hosts]
        expiries = [record["expires_at"] for record in records if "expires_at" in record]
        runs[run_id] = {"hosts": sorted(hosts - {layout.LINK}), "expires_at": max(expiries, default=None)}
    return {"runs": runs}


def sweep(run_id: str) -> dict[str, Any]:
    """Remove all of a deployment; what was removed, and what is left and why. Never raises for what it cannot remove."""
    removed: list[str] = []
    left: list[dict[str, str]] = []
    there = names().get(run_id, set())
    for name in sorted(there, key=lambda name: (name != layout.LINK, name)):  # the link first: it connects the rest
        what = layout.instance_name(run_id, name)
        remove: Callable[[], None] = (lambda: link.down(run_id)) if name == layout.LINK else _host_remover(run_id, name)
        try:
            remove()
            removed.append(what)
        except (LabError, OSError) as error:
            left.append({"what": what, "why": str(error)})
    network.release(run_id)
    return {"removed": removed, "left": left}


def _host_remover(run_id: str, name: str) -> Callable[[], None]:
    return lambda: host.down(run_id, name)


def sweep_all() -> dict[str, Any]:
    """Sweep every run that left something."""
    receipts = [sweep(run_id) for run_id in sorted(names())]
    return {key: [entry for receipt in receipts for entry in receipt[key]] for key in ("removed", "left")}
