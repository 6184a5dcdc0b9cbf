"""What in a project is ours, and of which run. Names alone decide nothing: a project is shared with others.

An instance or a disk is ours by the labels `app=orch` and `orch-run=ID`. Networks, subnetworks and firewall rules
cannot carry labels: a network is ours by the marker in its description; the other two by the marker *and* by belonging
to a network of ours of the same run. In each case the name must fit the run as well: a copy that somebody made of an
instance in the console has its labels, but not its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_RUN = re.compile(r"[a-z0-9]{1,20}")
_MARKER = re.compile(r"app=orch orch-run=(?P<run>[a-z0-9]{1,20})(?::.*)?")
_LABELLED = ("instances", "disks")
# What a run consists of, in the order in which it can be deleted. A disk goes with its instance, unless the instance was
# never made or somebody has detached it.
KINDS = ("instances", "disks", "firewalls", "subnetworks", "networks")


@dataclass(frozen=True, kw_only=True)
class Owned:
    """One thing of ours: its collection, the run it belongs to, and what the API says of it."""

    kind: str
    run: str
    item: Mapping[str, Any] = field(compare=False)
    path: str  # place, kind and name: what requests call it

    @property
    def name(self) -> str:
        """Kind and name, as receipts show it."""
        return f"{self.kind}/{self.item['name']}"

    @property
    def place(self) -> str:
        """Where it is, as the API's paths say it: `global`, `zones/Z` or `regions/R`."""
        return self.path.removesuffix(f"/{self.name}")

    @property
    def host(self) -> str:
        """The host's name in its run, of an instance or a disk."""
        return str(self.item["name"]).removeprefix(f"orch-{self.run}-")


def reference(link: str) -> str:
    """A link as `projects/P/...`, whichever host and version it was written with.

    >>> reference("https://www.googleapis.com/compute/v1/projects/p/global/networks/n")
    'projects/p/global/networks/n'
    """
    return link[max(link.find("projects/"), 0) :]


def networks_of(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The runs of the networks that are ours, by reference."""
    return {reference(item["selfLink"]): thing.run for item in items for thing in owned("networks", [item], {})}


def owned(kind: str, items: Iterable[Mapping[str, Any]], networks: Mapping[str, str]) -> list[Owned]:
    """Those of the things that are ours. `networks`: those of ours, as `networks_of` gives them."""
    return [
        Owned(kind=kind, run=run, item=item, path=f"{_place(item)}/{kind}/{item['name']}")
        for item in items
        if (run := _run_of(kind, item, networks)) is not None
    ]


def _run_of(kind: str, item: Mapping[str, Any], networks: Mapping[str, str]) -> str | None:
    if kind in _LABELLED:
        labels = item.get("labels") or {}
        run = str(labels.get("orch-run", "")) if labels.get("app") == "orch" else ""
        return run if _RUN.fullmatch(run) and _is_part(item, run) else None
    marker = _MARKER.fullmatch(str(item.get("description") or ""))
    if marker is None:
        return None
    run = marker["run"]
    if kind == "networks":
        return run if item["name"] == f"orch-{run}" else None
    is_in_ours = networks.get(reference(str(item.get("network") or ""))) == run
    return run if is_in_ours and _is_part(item, run) else None


def _is_part(item: Mapping[str, Any], run: str) -> bool:
    return str(item["name"]).startswith(f"orch-{run}-")


def _place(item: Mapping[str, Any]) -> str:
    """`global`, `zones/Z` or `regions/R`."""
    for key, word in (("zone", "zones"), ("region", "regions")):
        if key in item:
            return f"{word}/{str(item[key]).rpartition('/')[2]}"
    return "global"
