"""Finds what is ours in a project and removes it; says what it could not see, because there anything may be left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from errors import GcpError
from ownership import KINDS, Owned, networks_of, owned


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What a list request found of one kind, and where it could not look (in words)."""

    items: tuple[dict[str, Any], ...]
    unseen: tuple[str, ...] = ()


class Project(Protocol):
    """A project of the Compute API, as far as sweeping asks it."""

    @property
    def project(self) -> str:
        """Its name."""

    def items(self, kind: str) -> Listing:
        """Everything of one kind whose name may be ours. GcpError when it cannot be listed."""

    def delete(self, thing: Owned) -> None:
        """Delete one thing and wait until that is done. GcpError when that fails."""


def all_of_ours(api: Project) -> list[Owned]:
    """Everything of ours in the project. GcpError when some of it cannot be seen: half a list is no answer."""
    inventory = _Inventory(api)
    things = list(inventory.everything())
    if inventory.unknown:
        raise inventory.error or GcpError("; ".join(f"{what}: {why}" for what, why in inventory.unknown.items()))
    return things


def sweep(api: Project, run_id: str | None) -> dict[str, Any]:
    """Delete all of a run, or of every run (None), then list again.

    `removed` is what the second listing no longer found, `left` what is still there and why, `unknown` what could
    not be inspected, and why.
    """
    inventory = _Inventory(api)
    failures: dict[Owned, str] = {}
    tried: dict[str, Owned] = {}
    for thing in inventory.everything():  # while it is deleted: a disk goes with its instance, and is not listed then
        if run_id not in (None, thing.run):
            continue
        tried[thing.path] = thing
        try:
            api.delete(thing)
        except GcpError as error:
            failures[thing] = error.message
    again = _Inventory(api, networks=inventory.networks)
    there = {thing.path: thing for thing in again.everything() if run_id in (None, thing.run)}
    for path, thing in tried.items():
        if thing in failures and not again.saw(thing.kind):
            there.setdefault(path, thing)
    still = "it is there after everything was deleted: does something still make hosts?"
    return {
        "removed": [thing.name for path, thing in tried.items() if path not in there and again.saw(thing.kind)],
        "left": [
            {"what": thing.name, "why": failures.get(tried.get(path, thing), still)} for path, thing in there.items()
        ],
        "unknown": [{"what": what, "why": why} for what, why in {**inventory.unknown, **again.unknown}.items()],
    }


@dataclass
class _Inventory:
    """Lists everything once; what it could not see is in `unknown`."""

    api: Project
    networks: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    error: GcpError | None = None
    _blind: set[str] = field(default_factory=set)

    def everything(self) -> Iterator[Owned]:
        """What is ours, in the order in which it can be deleted; each kind is listed when its turn comes."""
        self.networks |= networks_of(self._list("networks"))  # the others are known by them
        for kind in KINDS:
            yield from owned(kind, self._list(kind), self.networks)

    def saw(self, kind: str) -> bool:
        """Whether all of a kind was seen, and the networks without which nobody knows whose it is."""
        needs_networks = kind in ("subnetworks", "firewalls")
        return kind not in self._blind and not (needs_networks and "networks" in self._blind)

    def _list(self, kind: str) -> tuple[dict[str, Any], ...]:
        try:
            listing = self.api.items(kind)
        except GcpError as error:
            self.error = self.error or error
            listing = Listing(items=(), unseen=(error.message,))
        if listing.unseen:
            self._blind.add(kind)
            self.unknown[f"{kind} in project {self.api.project}"] = "; ".join(listing.unseen)
        return listing.items
