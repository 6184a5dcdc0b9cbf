"""The bytes that a plan's hosts send beyond their zone, and what a cloud takes for them. Pure.

Prices are US dollars per GiB. That between two zones of a region (0.01) and that out of the cloud (0.12, the first TiB
of a month to North America) are list prices of Google's page "Network pricing", as it was transcribed on 2026-09-20.
Those between regions are **assumptions** of 2026-11-21, by continent, and rather too high than too low: the page has a
price for each pair of regions, and changes. A destination in China or Oceania costs more than is counted here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.experiment.plan.plan import Operation, Plan
from orchestrator.experiment.plan.regions import region_of
from orchestrator.experiment.plan.topology import topology
from orchestrator.experiment.providers import PROVIDERS

TRAFFIC_PRICES_AS_OF = "2026-11-21"
_GIB = 2**30
_BETWEEN_ZONES_USD = 0.01
_OUT_USD = 0.12
_BETWEEN_CONTINENTS_USD = 0.05  # at least
# What a GiB costs within a continent, and at least on the way to or from it; by the first word of a region's name.
_CONTINENT_USD = {
    "us": 0.02,
    "northamerica": 0.02,
    "europe": 0.02,
    "asia": 0.08,
    "australia": 0.10,
    "southamerica": 0.14,
}
_ELSEWHERE_USD = 0.15
_AMERICAN = {"us", "northamerica"}

_TEXT = 4 / 3  # bytes written as base64: text protocols do, and a limit must hold for them too
_PACKETS = 1.05  # headers of TCP, IP and Ethernet
_HEADS_BYTES = 1_000  # of a request and its reply, connection included
_CONTROL_BYTES = 50_000  # of a trial: SSH


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Bytes between zones, bytes out of the cloud (samples to the controller), and what both cost in US dollars."""

    between_bytes: int = 0
    out_bytes: int = 0
    usd: float = 0.0


def usd_per_gib(from_zone: str, to_zone: str) -> float:
    """What a GiB costs from one zone to another.

    >>> [usd_per_gib("us-central1-a", zone) for zone in ("us-central1-a", "us-central1-b", "us-west1-a", "asia-east1-a")]
    [0.0, 0.01, 0.02, 0.08]
    """
    if from_zone == to_zone:
        return 0.0
    if region_of(from_zone) == region_of(to_zone):
        return _BETWEEN_ZONES_USD
    continents = [zone.partition("-")[0] for zone in (from_zone, to_zone)]
    dearest = max(_CONTINENT_USD.get(continent, _ELSEWHERE_USD) for continent in continents)
    is_one_continent = len(set(continents)) == 1 or _AMERICAN.issuperset(continents)
    return dearest if is_one_continent else max(dearest, _BETWEEN_CONTINENTS_USD)


def wire_bytes(operation: Operation) -> float:
    """What one request and its reply are on the wire, both directions together, at most."""
    return (operation.request_bytes + operation.reply_bytes) * _TEXT * _PACKETS + _HEADS_BYTES


def priced(plan: Plan, sent: Mapping[str, float], fetched_bytes: float) -> Traffic:
    """What it costs to send so many bytes per placement (by id), and to fetch the samples; nothing outside a cloud."""
    if not PROVIDERS[plan.provider].costs_money:
        return Traffic()
    wanted = topology(plan)
    zones = {host.name: host.zone for host in wanted.hosts}
    between, usd = 0.0, 0.0
    for placement, size in sent.items():
        ends = wanted.ends[placement]
        price = usd_per_gib(zones[ends.requesters[0]], zones[ends.responder])
        if price:
            between += size
            usd += size / _GIB * price
    out = fetched_bytes + len(plan.trials) * plan.requesters * _CONTROL_BYTES
    return Traffic(between_bytes=round(between), out_bytes=round(out), usd=usd + out / _GIB * _OUT_USD)
