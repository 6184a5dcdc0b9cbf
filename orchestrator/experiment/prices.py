"""What hosts cost an hour: the list prices of `infra/<provider>/prices.json`, with their date and source.

Prices are US dollars per hour, on demand. Disks (a 10 GB boot disk is a fraction of a cent an hour) are not included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from orchestrator.clock import SYSTEM
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.topology import MACHINES
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.shapes import decode_json

_INFRA = Path(__file__).resolve().parents[2] / "infra"
_FRESH = timedelta(days=365)


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """The prices of one provider, by region: of a machine type, of a core of a family, and of a public address.

    All types of a family have as many GB per core, so that one price per region is that of all.
    """

    as_of: str  # an ISO date
    source: str
    address: float
    each: dict[str, dict[str, float]]
    each_core: dict[str, dict[str, float]]


_LISTS: list[PriceList] = [
    decode_json(PriceList, json.loads(path.read_text(encoding="utf-8")))
    for path in sorted(_INFRA.glob("*/prices.json"))
]
PRICES_AS_OF = min(prices.as_of for prices in _LISTS)


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


def require_fresh_prices(provider: str, *, takes_stale: bool) -> None:
    """Raise UsageError where hosts are estimated with prices older than a year, unless the user takes them."""
    today = datetime.fromtimestamp(SYSTEM.wall_ns() / 1e9, UTC).date()
    is_stale = today - date.fromisoformat(PRICES_AS_OF) > _FRESH
    if is_stale and PROVIDERS[provider].costs_money and not takes_stale:
        raise UsageError(
            f"the prices of hosts are of {PRICES_AS_OF}, more than a year ago, so `limits.cost` may not hold",
            hint=f"write those of today into infra/{provider}/prices.json, or take the old ones: --stale-prices",
        )
