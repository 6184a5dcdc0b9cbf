"""Who can make hosts, what each provider is like, and what its machines cost: read from its own folder, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from orchestrator.shapes import decode_json

_ROOT = Path(__file__).resolve().parents[2]
_FILE = "provider.json"
_HERE = _ROOT / "orchestrator" / "hosts" / "local" / _FILE


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine type: the share of a core that it may use all the time, and its memory.

    The shares of shared-core types are those that Google bills by (0.25 of a core for e2-micro; f1-micro is documented
    as 0.2 of one), and for T3 the baseline that AWS documents (10 % of each of a t3.micro's two).
    """

    cores: float
    memory_mb: int
    is_shared_core: bool = False
    is_arm: bool = False


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """List prices by region, US dollars an hour on demand: of a machine type, of a core of a family, and of an address.

    Disks (a 10 GB boot disk is a fraction of a cent an hour) are not included.
    """

    as_of: str  # an ISO date
    source: str
    address: float
    each: dict[str, dict[str, float]]
    each_core: dict[str, dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class Provider:
    """What a provider is like."""

    name: str
    title: str  # who makes the hosts, in words
    makes_hosts: bool
    hosts_are_this_machine: bool
    distance: Literal["none", "emulated", "real"]
    costs_money: bool  # by `prices` and those of `plan.estimate`
    needs: tuple[str, ...]  # the findings of `orch doctor` that it cannot do without, by name
    hosts_are_given: bool = False  # by the experiment: nothing is made but a folder on each
    module_is_given: bool = False  # by the experiment: it decides about zones, machines and how hosts end
    zones: tuple[str, str] = ("us-central1-a", "us-west1-a")  # two regions, for an experiment that names none
    about_distance: str = ""  # a clause behind its name
    machines: dict[str, Machine | None] = field(default_factory=dict)  # those to recommend first; None has no limit
    default_machine: str | None = None  # for an experiment that names none; None where it must name one
    unlimited_machine: str | None = None  # the type that has all of its physical machine
    about_machines: str = ""  # a sentence
    needs_controller: bool = False  # hosts open SSH only to the address in ORCH_CONTROLLER_CIDR
    metadata: str | None = None  # the service by which hosts know where they are (`describe --cloud`)
    platform: str = ""  # that its hosts are of (`linux-x86_64`); empty where it is this machine's
    seconds_up: float = 0.0  # of all hosts, with uploads
    seconds_down: float = 0.0
    has_program: bool = False  # `provider.py`; without one, Terraform's state alone says what there is
    prices: PriceList | None = None  # `prices.json`; None where nobody looked them up


def _read(path: Path, name: str) -> Provider:
    prices = path.with_name("prices.json")
    beside = {
        "has_program": path.with_name("provider.py").exists(),
        "prices": json.loads(prices.read_text(encoding="utf-8")) if prices.exists() else None,
    }
    declared = json.loads(path.read_text(encoding="utf-8"))
    provider: Provider = decode_json(Provider, {**declared, **beside, "name": name})
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
MACHINES = {name: machine for p in PROVIDERS.values() for name, machine in p.machines.items() if machine is not None}
WITH_MACHINES = tuple(p.name for p in PROVIDERS.values() if p.machines)
WITH_MODULE = tuple(p.name for p in PROVIDERS.values() if p.module_is_given)
GIVEN = next((p.name for p in PROVIDERS.values() if p.hosts_are_given), "")  # the provider of hosts that exist
EMULATING = tuple(p.name for p in PROVIDERS.values() if p.distance == "emulated")


def usd_per_hour(machine: str, region: str) -> float | None:
    """Return what a host of that type costs an hour with its address; None when its price is not known."""
    for prices in (provider.prices for provider in PROVIDERS.values() if provider.prices):
        each = prices.each.get(machine, {}).get(region)
        each_core = prices.each_core.get(machine.partition("-")[0], {}).get(region)
        if each is not None:
            return each + prices.address
        if each_core is not None and machine in MACHINES:
            return each_core * MACHINES[machine].cores + prices.address
    return None


def cost_usd(machine: str, regions: Sequence[str], hours: float) -> float | None:
    """Return what hosts of one type in these regions (one entry per host) cost; None when a price is not known."""
    prices = [usd_per_hour(machine, region) for region in regions]
    known = [price for price in prices if price is not None]
    return sum(known) * hours if len(known) == len(prices) else None


def any_of(names: tuple[str, ...]) -> str:
    """As a person reads a choice of providers: "`provider: a`, `provider: b` or `provider: c`"."""
    *others, last = [f"`provider: {name}`" for name in names] or ["a provider of a whole checkout"]
    return " or ".join(part for part in (", ".join(others), last) if part)
