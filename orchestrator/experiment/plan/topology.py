"""What has to be there for a run: hosts, the links between their zones, machine types, and built programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from orchestrator.catalogue.offers import Client, Language, Responder
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.cells import workers_of
from orchestrator.experiment.plan.plan import Link, Plan
from orchestrator.experiment.providers import MACHINES, PROVIDERS
from services.python.contract.knobs import WORKERS

if TYPE_CHECKING:
    from orchestrator.catalogue.builds import Built


OWN = "own"  # the machine type of a host that the experiment gives


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


def topology(plan: Plan) -> Topology:
    """The fewest hosts that give every placement its ends: a responder per zone that answers, requesters per zone of theirs.

    A `local` placement has its requester on the responder's host. Placements without zones are where the first one with
    zones has its responder.
    """
    if plan.hosts:
        return _of_given_hosts(plan)
    named = [p for p in plan.placements if p.to_zone]
    home = (named[0].to_zone if named else None) or PROVIDERS[plan.provider].zones[0]
    machine = plan.machine or ""
    hosts: dict[str, HostSpec] = {}
    links: dict[tuple[str, str], WantedLink] = {}
    ends: dict[str, Ends] = {}

    def host(role: str, zone: str, number: int = 1) -> str:
        kind = role if role in ("requester", "store") else "responder"
        mine = [h for h in hosts.values() if h.name.startswith(kind)]
        same = [h for h in mine if h.zone == zone]
        if len(same) < number:
            same.append(HostSpec(name=f"{kind}-{len(mine) + 1}", role=role, zone=zone, machine=machine))
        match = same[number - 1]
        hosts[match.name] = replace(match, role="both") if role == "both" else match
        return match.name

    for placement in plan.placements:
        answers = placement.to_zone or placement.from_zone or home
        asks = placement.from_zone or answers
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
        for name, placement_ends in ends.items():
            ends[name] = replace(placement_ends, store=host("store", hosts[placement_ends.responder].zone))
    if PROVIDERS[plan.provider].distance == "emulated":
        # A lab needs links between zones that no placement joins, too: the published one, or the longest wanted.
        longest_ms = max((between.link.rtt_ms or 0.0 for between in links.values()), default=0.0)
        unmeasured = Link(rtt_ms=longest_ms, source="no placement measures it")
        for pair in combinations(sorted({spec.zone for spec in hosts.values()}), 2):
            links.setdefault(pair, WantedLink(zones=pair, link=profile(*pair) or unmeasured))
    return Topology(hosts=tuple(hosts.values()), links=tuple(links.values()), ends=ends)


def _of_given_hosts(plan: Plan) -> Topology:
    """Those that placements need; further requesters, and the store, are the hosts with that role."""
    ends: dict[str, Ends] = {}
    store = next((host.name for host in plan.hosts if host.role == "store"), None) if plan.makes_stores else None
    able = [host.name for host in plan.hosts if host.role in ("requester", "both")]
    for placement in plan.placements:
        requester, responder = str(placement.from_zone), str(placement.to_zone)
        others = [name for name in able if name not in (requester, responder)]
        count = 1 if placement.kind == "local" else plan.requesters
        ends[placement.id] = Ends(requesters=(requester, *others)[:count], responder=responder, store=store)
    hosts = []
    for host in plan.hosts:
        sends = any(host.name in each.requesters for each in ends.values())
        answers = any(host.name == each.responder for each in ends.values())
        role = "both" if sends and answers else "requester" if sends else "responder" if answers else "store"
        if sends or answers or host.name == store:
            hosts.append(HostSpec(name=host.name, role=role, zone=host.name, machine=OWN))
    return Topology(hosts=tuple(hosts), links=(), ends=ends)


def with_too_few_cpus(plan: Plan) -> Iterator[str]:
    """Why some workers of a plan will wait for each other, as far as that is known before there are hosts."""
    most = max((workers_of(cell.factors) for cell in plan.cells), default=1)
    if most == 1:
        return
    given = f"`{WORKERS}: {most}`"
    machine = MACHINES.get(plan.machine or "")
    if PROVIDERS[plan.provider].makes_hosts and machine is not None and machine.cores < most:
        yield f"{given} is more than the cores of {plan.machine} ({machine.cores:g}): the workers wait for each other"
    elif pinned := [pin for pin in plan.pins if pin != "off"]:
        why = f"`pin: {pinned[0]}` gives the responder one CPU for all of them"
        yield f"{given} brings nothing here, as {why}: give `pin: 'off'`"


_STUDY = "ping between f1-micro instances, mean of the study 'Python Flask REST against Python gRPC by placement'"
_PROFILES: dict[frozenset[str], Link] = {
    frozenset({"us-central1"}): Link(rtt_ms=1.489, source=f"{_STUDY}: same zone of us-central1"),
    frozenset({"us-central1", "us-west1"}): Link(rtt_ms=35.594, source=f"{_STUDY}: us-central1 to us-west1"),
}
_IN_REGION = re.compile(r"(?P<region>.+?)-?(?<=[-\d])[a-z]")


def region_of(zone: str) -> str:
    """The region of a zone.

    >>> [region_of(zone) for zone in ("us-central1-a", "us-east-1a", "fsn1-dc14")]
    ['us-central1', 'us-east-1', 'fsn1-dc14']
    """
    match = _IN_REGION.fullmatch(zone)
    return match["region"] if match else zone


def profile(from_zone: str, to_zone: str) -> Link | None:
    """The published distance between two zones; None where none was found that can be attributed."""
    return _PROFILES.get(frozenset({region_of(from_zone), region_of(to_zone)}))


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a host may use by its machine type, in cores, and who holds it to that: a quota, or the cloud's hypervisor."""

    cores: float
    by: Literal["quota", "hypervisor"]


def limit_of(provider: str, machine: str | None) -> Limit | None:
    """What a machine type intends that a host cannot have; None where a host has all of its CPUs."""
    size, made_by = MACHINES.get(machine or ""), PROVIDERS[provider]
    if size is None or not made_by.makes_hosts:
        return None
    if made_by.hosts_are_this_machine:
        return Limit(cores=size.cores, by="quota")
    return Limit(cores=size.cores, by="hypervisor") if size.is_shared_core else None


# ---- programs that both ends, the floor and hosts need


_FLOOR = "tcp"
_OF_HOSTS = ("ping", "describe")


def require_programs(plan: Plan) -> Mapping[str, Built]:
    """What was built of each language that a plan needs built; UsageError where that cannot be used now."""
    states = {language.name: usable(language, plan.provider, plan.machine) for language in needed_languages(plan)}
    if why := next((why for why, _ in states.values() if why), ""):
        raise UsageError(why, hint=f"`orch services` shows what is built; the plan is of {plan.experiment_path}")
    return {name: built for name, (_, built) in states.items() if built is not None}


def missing_programs(plan: Plan) -> list[str]:
    """Why languages that a plan needs cannot be used now, and what to do: a sentence for each."""
    whys = (usable(language, plan.provider, plan.machine)[0] for language in needed_languages(plan))
    return [why for why in whys if why]


def needed_languages(plan: Plan) -> tuple[Language, ...]:
    """Whose programs a plan starts, each once; what the catalogue does not have is left to the trial that needs it."""
    languages = (*(end.language for end in _ends(plan)), *_always_needed())
    return tuple({language.name: language for language in languages}.values())


def platform_of(provider: str, machine: str | None = None) -> str:
    """Return the platform of a provider's hosts: that of the machine type, or this machine's."""
    from orchestrator.catalogue import platforms

    if machine in MACHINES and MACHINES[machine].is_arm:
        return platforms.named("linux", "aarch64")
    return PROVIDERS[provider].platform or platforms.here()


def usable(language: Language, provider: str, machine: str | None) -> tuple[str, Built | None]:
    """Why that provider cannot start a language's programs, and what to do (empty where it can); what was built."""
    if not language.build and not language.needs:
        return "", None
    from orchestrator.catalogue import builds, platforms, toolchains

    wanted, folder = platform_of(provider, machine), catalogue().folder
    state = builds.look(language, folder, wanted)
    if state.why:
        is_elsewhere = state.kind == "foreign" and wanted != platforms.here()
        way = f"build them on {wanted}" if is_elsewhere else f"run `orch setup build {language.name}`, or `make native`"
        return f"the programs of {language.title} cannot be used: {state.why}; {way}", None
    maker = PROVIDERS[provider]
    is_here = not maker.makes_hosts or maker.hosts_are_this_machine
    runtimes = [toolchains.look(tool, folder / language.name) for tool in language.needs] if is_here else []
    if lacking := toolchains.lacking(runtimes):
        return f"the programs of {language.title} cannot be started here: {lacking}", None
    return "", state.built


def _ends(plan: Plan) -> Iterator[Responder | Client]:
    known = catalogue().protocols
    for stack in plan.stacks:
        if (protocol := known.get(stack.protocol)) is None:
            continue
        responders = protocol.responders if stack.external is None else ()
        yield from (end for end in responders if end.name == stack.responder)
        yield from (end for end in protocol.clients if end.name == stack.client)


def _always_needed() -> Iterator[Language]:
    known = catalogue()
    for role in _OF_HOSTS:
        yield from [language for language in known.languages.values() if role in language.start][:1]
    if _FLOOR in known.protocols:
        floor = known.protocols[_FLOOR]
        yield from (floor.responder().language, floor.default_client(1).language)
