"""Which hosts a plan needs, and which of them stand at the two ends of each placement. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from itertools import combinations

from orchestrator.experiment.model.host_rules import MOST_RTT_S
from orchestrator.experiment.plan.plan import Link, Placement, Plan
from orchestrator.experiment.plan.regions import HOME_ZONE, profile
from orchestrator.experiment.providers import PROVIDERS


@dataclass(frozen=True, kw_only=True)
class HostSpec:
    """A host to be made. `name` is unique in the deployment; `role`: requester, responder, both or store (see `infra`)."""

    name: str
    role: str
    zone: str
    machine: str


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The hosts of a placement, by name: every requester, the one responder, and its database's where that has its own."""

    requesters: tuple[str, ...]
    responder: str
    store: str | None = None


@dataclass(frozen=True, kw_only=True)
class WantedLink:
    """The wanted distance between two different zones, or within one when both are the same."""

    zones: tuple[str, str]
    link: Link


@dataclass(frozen=True, kw_only=True)
class Topology:
    """All hosts of a plan, the links between their zones, and the ends of each placement by placement id."""

    hosts: tuple[HostSpec, ...]
    links: tuple[WantedLink, ...]
    ends: dict[str, Ends]


def zones_of(placement: Placement, home: str) -> tuple[str, str]:
    """The requester's and the responder's zone; `home` stands in where the placement names none."""
    to_zone = placement.to_zone or placement.from_zone or home
    return placement.from_zone or to_zone, to_zone


def topology(plan: Plan) -> Topology:
    """The fewest hosts that give every placement its ends.

    One responder per zone that answers, N requesters per zone that asks; a store per zone that answers, where the plan
    makes stores. A `local` placement asks from the responder's own host. Placements without zones stand where the first
    placement with zones has its responder, so that they share hosts with it. ValueError for a plan without a machine type:
    its provider makes no hosts.
    """
    named = [p for p in plan.placements if p.to_zone]
    home = (named[0].to_zone if named else None) or HOME_ZONE
    if plan.machine is None:
        raise ValueError("a plan whose hosts are made names their machine type")
    machine = plan.machine
    hosts: dict[str, HostSpec] = {}
    links: dict[tuple[str, str], WantedLink] = {}
    ends: dict[str, Ends] = {}

    def host(role: str, zone: str, number: int = 1) -> str:
        mine = [h for h in hosts.values() if (h.role == "requester") == (role == "requester")]
        same = [h for h in mine if h.zone == zone]
        if len(same) < number:
            kind = "requester" if role == "requester" else "responder"
            same.append(HostSpec(name=f"{kind}-{len(mine) + 1}", role=role, zone=zone, machine=machine))
        found = same[number - 1]
        hosts[found.name] = replace(found, role="both") if role == "both" else found
        return found.name

    for placement in plan.placements:
        asks, answers = zones_of(placement, home)
        if placement.kind == "local":
            both = host("both", answers)
            ends[placement.id] = Ends(requesters=(both,), responder=both)
            continue
        responder = host("responder", answers)
        requesters = tuple(host("requester", asks, n + 1) for n in range(plan.requesters))
        ends[placement.id] = Ends(requesters=requesters, responder=responder)
        zones = (min(asks, answers), max(asks, answers))
        links[zones] = WantedLink(zones=zones, link=placement.link)
    if plan.makes_stores:
        for ends_of, made in ends.items():
            zone = hosts[made.responder].zone
            there = [h.name for h in hosts.values() if h.role == "store" and h.zone == zone]
            name = there[0] if there else f"store-{sum(h.role == 'store' for h in hosts.values()) + 1}"
            hosts[name] = HostSpec(name=name, role="store", zone=zone, machine=machine)
            ends[ends_of] = replace(made, store=name)
    if PROVIDERS[plan.provider].distance == "emulated":
        links |= _between_the_others({host.zone for host in hosts.values()}, links)
    return Topology(hosts=tuple(hosts.values()), links=tuple(links.values()), ends=ends)


def _between_the_others(
    zones: Set[str], links: Mapping[tuple[str, str], WantedLink]
) -> dict[tuple[str, str], WantedLink]:
    """Links between zones that no placement joins: a lab gives every two of its zones a distance.

    Nothing is measured there. It is the published one, else the shortest way over a third zone, else the longest wanted.
    """
    wanted_ms = {pair: between.link.rtt_ms or 0.0 for pair, between in links.items()}
    longest_ms = max(wanted_ms.values(), default=0.0)
    beside: dict[str, dict[str, float]] = {zone: {} for zone in zones}
    for (one, other), rtt_ms in wanted_ms.items():
        if one != other:
            beside[one][other] = beside[other][one] = rtt_ms
    found = {}
    for pair in combinations(sorted(zones), 2):
        if pair in links:
            continue
        first, second = beside[pair[0]], beside[pair[1]]
        over = [first[third] + second[third] for third in first.keys() & second.keys()]
        known = profile(*pair)
        rtt_ms = min([*over, MOST_RTT_S * 1000]) if over else longest_ms
        found[pair] = WantedLink(zones=pair, link=known or Link(rtt_ms=rtt_ms, source="no placement measures it"))
    return found
