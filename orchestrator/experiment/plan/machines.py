"""Machine types of Google Compute Engine: what they are, and what they cost. Also the sizes that are emulated.

Prices are list prices in US dollars per hour, on demand, of the price list that was generated from Google's Cloud
Billing catalogue on 2025-03-06 (Cyclenerd/google-cloud-pricing-cost-calculator, pricing.yml of that day). An
in-use external IPv4 address costs 0.005 USD an hour (Google's network pricing page, read on 2026-10-16). Disks (a
10 GB boot disk is a fraction of a cent an hour) are not included; traffic is in `traffic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.providers import PROVIDERS

PRICES_AS_OF = "2025-03-06"
ADDRESS_USD_PER_H = 0.005


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine type: the share of a core that it may use all the time, and its memory.

    The shares of shared-core types are those that Google bills by (0.25 of a core for e2-micro; f1-micro is documented
    as 0.2 of one).
    """

    name: str
    cores: float
    memory_mb: int
    is_shared_core: bool = False


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a host may use by its machine type, in cores, and who holds it to that: a quota, or the cloud's hypervisor."""

    cores: float
    by: Literal["quota", "hypervisor"]


MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        Machine(name="f1-micro", cores=0.2, memory_mb=614, is_shared_core=True),
        Machine(name="g1-small", cores=0.5, memory_mb=1740, is_shared_core=True),
        Machine(name="e2-micro", cores=0.25, memory_mb=1024, is_shared_core=True),
        Machine(name="e2-small", cores=0.5, memory_mb=2048, is_shared_core=True),
        Machine(name="e2-medium", cores=1.0, memory_mb=4096, is_shared_core=True),
        Machine(name="n1-standard-1", cores=1.0, memory_mb=3840),
        Machine(name="e2-standard-2", cores=2.0, memory_mb=8192),
        Machine(name="e2-standard-4", cores=4.0, memory_mb=16384),
        Machine(name="e2-standard-8", cores=8.0, memory_mb=32768),
    )
}


def limit_of(provider: str, machine: str | None) -> Limit | None:
    """What a machine type intends that a host cannot have; None where a host has all of its CPUs.

    In the lab a quota holds every type to its size. In a cloud the hypervisor takes time from the shared-core types.
    """
    size, made_by = MACHINES.get(machine or ""), PROVIDERS[provider]
    if size is None or not made_by.makes_hosts:
        return None
    if made_by.hosts_are_this_machine:
        return Limit(cores=size.cores, by="quota")
    return Limit(cores=size.cores, by="hypervisor") if size.is_shared_core else None


# E2 types are billed by the same rates per core and per GB, and all have 4 GB per core: one price per region says all.
_E2_PER_CORE_USD: dict[str, float] = {
    "us-central1": 0.03350571,
    "us-east1": 0.03350571,
    "us-east4": 0.03773541,
    "us-east5": 0.03350571,
    "us-west1": 0.03350571,
    "us-west2": 0.04024494,
    "us-west3": 0.04024494,
    "us-west4": 0.03773541,
    "europe-west1": 0.03685773,
    "europe-west2": 0.04316778,
    "europe-west3": 0.04316778,
    "europe-west4": 0.03688602,
    "europe-north1": 0.03688878,
    "asia-east1": 0.03879594,
    "asia-northeast1": 0.04298286,
    "asia-south1": 0.04024218,
    "asia-southeast1": 0.04133307,
    "australia-southeast1": 0.047541,
    "southamerica-east1": 0.0531852,
    "northamerica-northeast1": 0.03688602,
}
_F1_MICRO_USD: dict[str, float] = {
    "us-central1": 0.0076,
    "us-east1": 0.0076,
    "us-east4": 0.0086,
    "us-east5": 0.0076,
    "us-west1": 0.0076,
    "us-west2": 0.0091,
    "us-west3": 0.0091,
    "us-west4": 0.0086,
    "europe-west1": 0.0086,
    "europe-west2": 0.0096,
    "europe-west3": 0.0096,
    "europe-west4": 0.0084,
    "europe-north1": 0.0084,
    "asia-east1": 0.009,
    "asia-northeast1": 0.0092,
    "asia-south1": 0.0091,
    "asia-southeast1": 0.0092,
    "australia-southeast1": 0.0106,
    "southamerica-east1": 0.0118,
    "northamerica-northeast1": 0.0084,
}


def usd_per_hour(machine: str, region: str) -> float | None:
    """What a host of that type costs an hour with its address; None when we know no price that can be attributed."""
    if machine == "f1-micro":
        price = _F1_MICRO_USD.get(region)
    elif machine.startswith("e2-") and machine in MACHINES and region in _E2_PER_CORE_USD:
        price = _E2_PER_CORE_USD[region] * MACHINES[machine].cores
    else:
        price = None
    return None if price is None else price + ADDRESS_USD_PER_H


def cost_usd(machine: str, regions: Sequence[str], hours: float) -> float | None:
    """What hosts of one type in these regions (one entry per host) cost for so long; None when a price is unknown."""
    prices = [usd_per_hour(machine, region) for region in regions]
    known = [price for price in prices if price is not None]
    return sum(known) * hours if len(known) == len(prices) else None
