"""Machine types: their sizes, and what they cost by the list prices of `infra/<provider>/prices.json`.

Prices are US dollars per hour, on demand. Disks (a 10 GB boot disk is a fraction of a cent an hour) are not included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.shapes import decode_json

_INFRA = Path(__file__).resolve().parents[2] / "infra"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine type: the share of a core that it may use all the time, and its memory.

    The shares of shared-core types are those that Google bills by (0.25 of a core for e2-micro; f1-micro is documented
    as 0.2 of one), and for T3 the baseline that AWS documents (10 % of each of a t3.micro's two).
    """

    name: str
    cores: float
    memory_mb: int
    is_shared_core: bool = False
    is_arm: bool = False


# Families whose types have whole cores: the memory of each core, and the counts of cores.
_FAMILIES = (
    ("e2", 4096, (2, 4, 8)),
    ("n2", 4096, (2, 4, 8)),
    ("c3", 4096, (4, 8)),
    ("c4", 3840, (4, 8)),
    ("t2d", 4096, (1, 2, 4, 8)),
    ("t2a", 4096, (1, 2, 4, 8)),
)
# Of AWS: the memory of each core in sizes that double from `large`, which has two.
_AWS_FAMILIES = (("m7i", 4096), ("c7i", 2048), ("m7g", 4096))
_AWS_SIZES = (("large", 2), ("xlarge", 4), ("2xlarge", 8))
MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        Machine(name="f1-micro", cores=0.2, memory_mb=614, is_shared_core=True),
        Machine(name="e2-micro", cores=0.25, memory_mb=1024, is_shared_core=True),
        Machine(name="e2-small", cores=0.5, memory_mb=2048, is_shared_core=True),
        Machine(name="e2-medium", cores=1.0, memory_mb=4096, is_shared_core=True),
        *(
            Machine(name=f"{family}-standard-{cores}", cores=cores, memory_mb=cores * memory_mb, is_arm=family == "t2a")
            for family, memory_mb, sizes in _FAMILIES
            for cores in sizes
        ),
        Machine(name="t3.micro", cores=0.2, memory_mb=1024, is_shared_core=True),
        Machine(name="t3.small", cores=0.4, memory_mb=2048, is_shared_core=True),
        Machine(name="t3.medium", cores=0.4, memory_mb=4096, is_shared_core=True),
        Machine(name="t3.large", cores=0.6, memory_mb=8192, is_shared_core=True),
        Machine(name="m7g.medium", cores=1, memory_mb=4096, is_arm=True),
        *(
            Machine(name=f"{family}.{size}", cores=cores, memory_mb=cores * memory_mb, is_arm=family == "m7g")
            for family, memory_mb in _AWS_FAMILIES
            for size, cores in _AWS_SIZES
        ),
    )
}


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """A provider's prices by region: of a machine type, of a core of a family (as many GB each), and of an address."""

    as_of: str  # an ISO date
    source: str
    address: float
    each: dict[str, dict[str, float]]
    each_core: dict[str, dict[str, float]]


_LISTS: list[PriceList] = [
    decode_json(PriceList, json.loads(path.read_text(encoding="utf-8")))
    for path in sorted(_INFRA.glob("*/prices.json"))
]
PRICES_AS_OF = min((prices.as_of for prices in _LISTS), default="")
"""The date of the oldest list; empty in an installed package, which has no `infra/`."""


def usd_per_hour(machine: str, region: str) -> float | None:
    """Return what a host of that type costs an hour with its address; None when its price is not known."""
    for prices in _LISTS:
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
