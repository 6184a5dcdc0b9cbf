"""What machine types cost by the list prices of `infra/<provider>/prices.json`.

Prices are US dollars per hour, on demand. Disks (a 10 GB boot disk is a fraction of a cent an hour) are not included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.experiment.providers import MACHINES
from orchestrator.shapes import decode_json

_INFRA = Path(__file__).resolve().parents[2] / "infra"


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
