"""Who can make hosts, and what each provider is like: read from `provider.json` in its own folder, and from nowhere else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from orchestrator.shapes import decode_json

_ROOT = Path(__file__).resolve().parents[2]
_FILE = "provider.json"
_HERE = _ROOT / "orchestrator" / "hosts" / "local" / _FILE


@dataclass(frozen=True, kw_only=True)
class Provider:
    """What a provider is like. `needs`: the findings of `orch doctor` that it cannot do without, by name.

    `machines`: the machine types that it knows, those to recommend first. `seconds_up`, `seconds_down`: for all hosts.
    """

    name: str
    title: str  # who makes the hosts, in words
    makes_hosts: bool
    hosts_are_this_machine: bool
    distance: Literal["none", "emulated", "real"]
    costs_money: bool  # by the prices of `plan.machines` and `plan.traffic`
    needs: tuple[str, ...]
    hosts_are_given: bool = False  # by the experiment: nothing is made but a folder on each
    about_distance: str = ""  # a clause behind its name
    machines: tuple[str, ...] = ()
    default_machine: str | None = None  # for an experiment that names none; None where it must name one
    unlimited_machine: str | None = None  # the type that has all of its physical machine
    about_machines: str = ""  # a sentence
    needs_controller: bool = False  # hosts open SSH only to the address in ORCH_CONTROLLER_CIDR
    uploads: bool = False  # wheels and code go to each host over the controller's line
    platform: str = ""  # that its hosts are of (`linux-x86_64`); empty where it is this machine's
    seconds_up: float = 0.0
    seconds_down: float = 0.0


def _read(path: Path, name: str) -> Provider:
    provider: Provider = decode_json(Provider, {**json.loads(path.read_text(encoding="utf-8")), "name": name})
    return provider


def _all() -> dict[str, Provider]:
    """Every provider by name: this machine first, then those whose hosts are it, then the others."""
    providers = [_read(_HERE, _HERE.parent.name)]
    providers += [_read(path, path.parent.name) for path in sorted((_ROOT / "infra").glob(f"*/{_FILE}"))]
    ordered = sorted(providers, key=lambda p: (p.makes_hosts, not p.hosts_are_this_machine, p.name))
    return {provider.name: provider for provider in ordered}


PROVIDERS = _all()
THIS_MACHINE = _HERE.parent.name  # the provider that makes no host

if TYPE_CHECKING:
    ProviderName: TypeAlias = str
else:
    ProviderName = Literal[tuple(PROVIDERS)]

MAKERS = tuple(p.name for p in PROVIDERS.values() if p.makes_hosts)
WITH_MACHINES = tuple(p.name for p in PROVIDERS.values() if p.machines)
EMULATING = tuple(p.name for p in PROVIDERS.values() if p.distance == "emulated")


def any_of(names: tuple[str, ...]) -> str:
    """As a person reads a choice of providers: "`provider: a`, `provider: b` or `provider: c`"."""
    *others, last = [f"`provider: {name}`" for name in names]
    return " or ".join(filter(None, (", ".join(others), last)))
