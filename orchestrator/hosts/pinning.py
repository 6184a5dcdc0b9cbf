"""Which CPU each end of the wire is pinned to on one machine, so that neither takes the other's time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.experiment.plan.plan import Pin

_TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, kw_only=True)
class Pinning:
    """The CPUs of both ends as taskset takes them, None where they are not pinned, and why that is not as wanted.

    `more`: the CPUs of further requester processes, one each, those of other cores first.
    """

    requester: str | None = None
    responder: str | None = None
    warning: str | None = None
    more: tuple[str, ...] = ()


def choose(pin: Pin, cpus: Sequence[int], *, can_pin: bool, siblings: Sequence[frozenset[int]] = ()) -> Pinning:
    """The CPUs for `pin`, out of those this process may use.

    `apart` takes CPUs of different cores where there are two: hyper-threads of one core share its execution units.

    >>> choose("apart", [0, 1, 2, 3], can_pin=True, siblings=[frozenset({0, 1}), frozenset({2, 3})])
    Pinning(requester='2', responder='0', warning=None, more=('3',))
    >>> choose("together", [4, 5], can_pin=True).requester
    '4'
    """
    if pin == "off":
        return Pinning()
    if not can_pin:
        return Pinning(warning="not pinned: this system cannot pin a process to a CPU; the two ends may share one")
    first = str(cpus[0])
    if pin == "together":
        return Pinning(requester=first, responder=first)
    if len(cpus) == 1:
        return Pinning(requester=first, responder=first, warning="not pinned apart: there is only one CPU")
    core = next((s for s in siblings if cpus[0] in s), frozenset({cpus[0]}))
    elsewhere = [cpu for cpu in cpus if cpu not in core]
    if elsewhere:
        requester, *more = _one_of_each_core_first(elsewhere, siblings)
        return Pinning(requester=str(requester), responder=first, more=tuple(map(str, more)))
    return Pinning(
        requester=str(cpus[1]),
        responder=first,
        warning="pinned to two hyper-threads of one core, which share its execution units: there is no second core",
    )


def _one_of_each_core_first(cpus: Sequence[int], siblings: Sequence[frozenset[int]]) -> list[int]:
    cores = [next((s for s in siblings if cpu in s), frozenset({cpu})) for cpu in cpus]
    return [cpu for _, cpu in sorted(enumerate(cpus), key=lambda at: cores[: at[0]].count(cores[at[0]]))]


def pinning_facts(pinnings: Mapping[str, Pinning]) -> dict[str, Any]:
    """What a manifest says of them: the CPUs of both ends in the first placement; each trial records its own."""
    first = next(iter(pinnings.values()))
    return {
        "requester_cpus": first.requester,
        "responder_cpus": first.responder,
        "warnings": list(dict.fromkeys(pinning.warning for pinning in pinnings.values() if pinning.warning)),
    }


def on_this_machine(pin: Pin) -> Pinning:
    """`choose` with what this machine has."""
    cpus = sorted(os.sched_getaffinity(0))
    return choose(pin, cpus, can_pin=shutil.which("taskset") is not None, siblings=_siblings(cpus))


def _siblings(cpus: Sequence[int]) -> list[frozenset[int]]:
    """The hyper-threads of each core; empty where the system does not say."""
    groups = []
    for cpu in cpus:
        listing = _TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list"
        if listing.exists():
            groups.append(frozenset(cpus_in(listing.read_text())))
    return groups


def cpus_in(text: str) -> set[int]:
    """CPU numbers of a kernel list such as `0-1,4`."""
    numbers: set[int] = set()
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        numbers |= set(range(int(low), int(high or low) + 1))
    return numbers
