"""Which hosts a plan needs, and which of them stand at the two ends of each placement. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.plan import Link, Placement, Plan

DEFAULT_ZONE = "us-central1-a"  # where `local` and `same-zone` stand when the file names no zone


@dataclass(frozen=True, kw_only=True)
class HostSpec:
    """A host to be made. `name` is unique in the deployment and a valid host name."""

    name: str
    role: str  # "requester" | "responder"; a responder's host also asks where the placement is `local`
    zone: str
    machine: str


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The hosts of a placement, by name: every requester, and the one responder."""

    requesters: tuple[str, ...]
    responder: str


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

    One responder per zone that answers, N requesters per zone that asks. A `local` placement asks from the responder's
    own host. Placements without zones stand where the first placement with zones has its responder, so that they share
    hosts with it.
    """
    named = [p for p in plan.placements if p.to_zone]
    home = (named[0].to_zone if named else None) or DEFAULT_ZONE
    machine = plan.machine or "f1-micro"
    hosts: dict[str, HostSpec] = {}
    links: dict[tuple[str, str], WantedLink] = {}
    ends: dict[str, Ends] = {}

    def host(role: str, zone: str, suffix: str = "") -> str:
        name = f"{role}-{zone}{suffix}"
        hosts[name] = HostSpec(name=name, role=role, zone=zone, machine=machine)
        return name

    for placement in plan.placements:
        asks, answers = zones_of(placement, home)
        responder = host("responder", answers)
        if placement.kind == "local":
            ends[placement.id] = Ends(requesters=(responder,), responder=responder)
            continue
        suffixes = [""] if plan.requesters == 1 else [f"-{n}" for n in range(1, plan.requesters + 1)]
        requesters = tuple(host("requester", asks, suffix) for suffix in suffixes)
        ends[placement.id] = Ends(requesters=requesters, responder=responder)
        zones = (min(asks, answers), max(asks, answers))
        links[zones] = WantedLink(zones=zones, link=placement.link)
    return Topology(hosts=tuple(hosts.values()), links=tuple(links.values()), ends=ends)
