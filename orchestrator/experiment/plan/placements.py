"""Where the two ends are: zones and distances of a file, lists of them, and addresses of responders that run already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import NoReturn

from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.address import is_loopback
from orchestrator.experiment.model.experiment import Experiment
from orchestrator.experiment.model.host_rules import ZONE_PATTERN
from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.model.options import LINK_KEYS, LinkSpec, PlacementSpec
from orchestrator.experiment.plan.plan import External, Link, OwnHost, Placement, PlacementKind
from orchestrator.experiment.plan.topology import profile, region_of
from orchestrator.experiment.providers import EMULATING, PROVIDERS, Provider, any_of
from orchestrator.experiment.read.fields import MOST_ITEMS

_BUILT_IN = ("local", "same-zone", "cross-region")
_EXTERNAL = "external"
_WINDOW = "initial_window"
_GRID = "distance"  # the name of its placements, too
_GIVEN = "network"  # the placement of hosts that the experiment gives, unless it names one
_EMULATED_RATE_MBIT = 1000.0  # a link without a rate lets its queue overflow at full speed


def resolve_placements(located: Located, hosts: Sequence[OwnHost], *, is_elsewhere: bool) -> tuple[Placement, ...]:
    """Every placement with its zones and link, or between given `hosts`; what cannot be is noted in `located`."""
    experiment = located.experiment
    if is_elsewhere:
        return _elsewhere(located)
    every = list(islice(wanted_placements(experiment), MOST_ITEMS + 1))
    if len(every) > MOST_ITEMS:
        key = "placements" if experiment.distance is None else "distance"
        located.add((key,), f"the lists make more than {MOST_ITEMS:,} placements. Ask less at once.")
        return ()
    usual, _ = PROVIDERS[experiment.provider].zones
    home = next((wanted.from_zone for wanted in every if wanted.from_zone), usual)
    placements: list[Placement] = []
    paths: dict[str, Steps] = {}
    for wanted in every:
        if wanted.name in paths:
            located.add(wanted.path, f"placement '{wanted.name}' is given twice.")
            continue
        paths[wanted.name] = wanted.path
        try:
            if not PROVIDERS[experiment.provider].makes_hosts:
                placements.append(_on_this_machine(wanted))
            elif not PROVIDERS[experiment.provider].hosts_are_given:
                placements.append(_between_hosts(located, wanted, home))
            elif hosts:
                placements.append(_between_given_hosts(located, wanted, hosts))
        except _Unfit as unfit:
            located.add(unfit.path, str(unfit))
    _refuse_two_distances(located, placements, paths)
    return _each_pinned(located, placements)


class _Unfit(Exception):
    """A placement that cannot be, with its place in the file."""

    def __init__(self, path: Steps, reason: str) -> None:
        super().__init__(reason)
        self.path = path


def _each_pinned(located: Located, placements: Sequence[Placement]) -> tuple[Placement, ...]:
    pins = located.experiment.pin
    if len(pins) == 1:
        return tuple(placements)
    far = next((placement for placement in placements if placement.kind != "local"), None)
    if far is not None:
        located.add(("pin",), f"`pin` is a list, and the two ends of '{far.name}' are on two hosts: give one value.")
        return ()
    return tuple(
        replace(placement, id=f"{placement.id}-{pin}", name=f"{placement.name}-{pin}", pin=pin)
        for placement, pin in product(placements, pins)
    )


def _elsewhere(located: Located) -> tuple[Placement, ...]:
    """The one placement of responders that run already on another machine."""
    for key in located.experiment.model_fields_set & {"placements", "distance"}:
        located.add((key,), f"the responders run on another machine, as far away as that is: leave `{key}` out.")
    return (Placement(id=_EXTERNAL, name=_EXTERNAL, kind="external"),)


def _on_this_machine(wanted: Wanted) -> Placement:
    if wanted.base == "local" and not wanted.from_zone and not wanted.to_zone:
        _refuse_link_of_one_host(wanted)
        return Placement(id="local", name="local", kind="local")
    others = ", ".join(f"`provider: {p.name}` {p.about_distance}" for p in PROVIDERS.values() if p.about_distance)
    real = any_of(tuple(p.name for p in PROVIDERS.values() if p.distance == "real"))
    reason = f"provider local has one machine, so '{wanted.base}' is not available there: its only placement is local."
    raise _Unfit(wanted.path, f"{reason} {others}; the distance is real with {real}.")


def _refuse_link_of_one_host(wanted: Wanted) -> None:
    if key := next(iter(wanted.link), None):
        raise _Unfit((*wanted.path, key), f"'{key}' needs two hosts: both ends of a local placement share one.")


def _between_given_hosts(located: Located, wanted: Wanted, hosts: Sequence[OwnHost]) -> Placement:
    """By names of hosts, or else between the first requester and the first responder."""
    if wanted.link:
        _refuse_another_network(located, wanted)
    is_local = wanted.base == "local"
    to_host = wanted.to_zone or (wanted.from_zone if is_local else None)
    requester = responder = _given_host(wanted, "to", to_host, "responder", hosts)
    if not is_local:
        requester = _given_host(wanted, "from", wanted.from_zone, "requester", hosts)
    if not is_local and requester == responder:
        raise _Unfit(wanted.path, f"'{wanted.name}' has both ends on one host: that placement is called local.")
    kind: PlacementKind = "local" if is_local else "same-zone"
    return Placement(id=wanted.name, name=wanted.name, kind=kind, from_zone=requester, to_zone=responder)


def _given_host(wanted: Wanted, key: str, name: str | None, role: str, hosts: Sequence[OwnHost]) -> str:
    names = [host.name for host in hosts]
    name = name or next((host.name for host in hosts if host.role in (role, "both")), None)
    if name is None:
        reason = f"placement '{wanted.name}' needs `{key}`, a host's name: none has the name or `role` {role}."
        raise _Unfit(wanted.path, reason)
    if name not in names:
        raise _Unfit((*wanted.path, key), f"there is no host '{name}'. {did_you_mean(name, names)}")
    return name


def _between_hosts(located: Located, wanted: Wanted, home: str) -> Placement:
    provider, is_local = PROVIDERS[located.experiment.provider], wanted.base == "local"
    for key, zone in (("from", wanted.from_zone), ("to", wanted.to_zone)):
        if zone and not provider.module_is_given and not re.match(ZONE_PATTERN, zone):
            reason = f"'{zone}' is not a zone: a region and a letter, such as {provider.zones[0]}."
            raise _Unfit((*wanted.path, key), reason)
    if wanted.link and not is_local and provider.distance == "real":
        _refuse_another_network(located, wanted)
    from_zone, to_zone = _zones(provider, wanted, home)
    kind: PlacementKind = "local" if is_local else "same-zone" if from_zone == to_zone else "cross-region"
    link = Link()
    if is_local:
        _refuse_link_of_one_host(wanted)
    elif provider.distance == "emulated":
        link = _emulated_link(located, wanted, from_zone, to_zone)
    return Placement(id=wanted.name, name=wanted.name, kind=kind, from_zone=from_zone, to_zone=to_zone, link=link)


def _refuse_another_network(located: Located, wanted: Wanted) -> NoReturn:
    """Between two zones of a cloud there is one distance, which nobody chooses."""
    name = PROVIDERS[located.experiment.provider].name
    key = next(iter((*wanted.listed, *wanted.link)))
    raise _Unfit(
        (*wanted.path, key) if "zones" not in wanted.path else (_GRID, key),
        f"'{key}' is not for an experiment to choose on {name}: leave it out, give pairs of zones"
        f" (`distance: {{zones: [{{from: ..., to: ...}}]}}`), or use {any_of(EMULATING)}.",
    )


def _zones(provider: Provider, wanted: Wanted, home: str) -> tuple[str, str]:
    """The requester's and the responder's zone; of a list of distances, requesters each in a zone of their own."""
    own_zone = f"{provider.name}-{wanted.base.replace('_', '-').strip('-')}"
    if wanted.base != "local" and wanted.listed and wanted.path[:2] != (_GRID, "zones"):
        if not wanted.from_zone and wanted.base != "same-zone":
            return f"{own_zone}-{wanted.number}-a", wanted.to_zone or home
        reason = "is a list, and between two zones there is one distance: give a name of its own and no `from`."
        raise _Unfit((*wanted.path, wanted.listed[0]), f"'{wanted.listed[0]}' {reason}")
    if wanted.base in ("local", "same-zone"):
        from_zone = wanted.from_zone or wanted.to_zone or home
        if (wanted.to_zone or from_zone) == from_zone:
            return from_zone, from_zone
        raise _Unfit(wanted.path, f"a {wanted.base} placement cannot have two zones; give it another name.")
    if wanted.base == "cross-region" and not wanted.from_zone and not wanted.to_zone:
        return home, _away_from(home, provider)
    is_emulated = provider.distance == "emulated"
    if is_emulated and "rtt" in wanted.link and not wanted.to_zone:
        return wanted.from_zone or home, f"{own_zone}-a"
    if wanted.from_zone and wanted.to_zone:
        return wanted.from_zone, wanted.to_zone
    missing = "from" if not wanted.from_zone else "to"
    near = "" if wanted.base in _BUILT_IN else f" {did_you_mean(wanted.base, _BUILT_IN)}"
    or_rtt = ", or an `rtt`" if is_emulated else ""
    needed = f"needs `{missing}`, a zone such as {provider.zones[0]}{or_rtt}.{near}"
    raise _Unfit(wanted.path, f"placement '{wanted.base}' {needed}")


def _away_from(home: str, provider: Provider) -> str:
    usual, away = provider.zones
    return away if region_of(home) != region_of(away) else usual


def _emulated_link(located: Located, wanted: Wanted, from_zone: str, to_zone: str) -> Link:
    link, given = profile(from_zone, to_zone), wanted.link
    if wanted.base == "cross-region" and wanted.listed:  # its zones replace those of the placement
        link = profile(to_zone, _away_from(to_zone, PROVIDERS[located.experiment.provider]))
    if "rtt" in given:
        link = Link(rtt_ms=given["rtt"] * 1000, source="the experiment file")
    if link is None:
        reason = f"no published round trip between {from_zone} and {to_zone} is known here: give one, `rtt: 80ms`."
        raise _Unfit(wanted.path, reason)
    jitter_ms = given.get("jitter", 0.0) * 1000
    if link.rtt_ms is not None and jitter_ms > link.rtt_ms:
        located.add((*wanted.path, "jitter"), "the jitter is larger than the round trip itself.")
    return replace(
        link,
        jitter_ms=jitter_ms,
        rate_mbit=given.get("rate", _EMULATED_RATE_MBIT),
        loss=given.get("loss", 0.0),
        initial_window=int(given[_WINDOW]) if _WINDOW in given else None,
    )


def _refuse_two_distances(located: Located, placements: Sequence[Placement], paths: Mapping[str, Steps]) -> None:
    seen: dict[frozenset[str | None], Placement] = {}
    for placement in placements:
        if placement.kind == "local":
            continue
        first = seen.setdefault(frozenset({placement.from_zone, placement.to_zone}), placement)
        if first.link != placement.link:
            both = f"'{placement.name}' and '{first.name}' need different distances between the same two zones"
            located.add(paths[placement.name], f"{both}: give one of them zones of its own.")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One placement with one value of each key, and its place in the file."""

    path: Steps
    base: str  # the name that the file gives
    name: str
    from_zone: str | None
    to_zone: str | None
    link: Mapping[str, float]  # by key; what is not given is absent
    number: int  # its place among those of its lists, from 1
    listed: tuple[str, ...]  # the keys that have several values


def given_placements(experiment: Experiment) -> tuple[PlacementSpec, ...]:
    """The placements of a file; those of its default only where it gives no `distance` either."""
    if "placements" in experiment.model_fields_set:
        return experiment.placements
    if experiment.distance is not None:
        return ()
    return (PlacementSpec(name=_GIVEN),) if PROVIDERS[experiment.provider].hosts_are_given else experiment.placements


def wanted_placements(experiment: Experiment) -> Iterator[Wanted]:
    """Every placement of the file: those of `placements` first, then those of `distance`."""
    for index, spec in enumerate(given_placements(experiment)):
        yield from _each(("placements", index), spec.name, spec.from_zone, spec.to_zone, spec)
    grid = experiment.distance
    if grid is None:
        return
    if grid.zones is None:
        yield from _each((_GRID,), _GRID, None, None, grid)
    for index, pair in enumerate(grid.zones or ()):
        name = f"{pair.from_zone}-{pair.to_zone}"
        yield from _each((_GRID, "zones", index), name, pair.from_zone, pair.to_zone, grid)


def _each(path: Steps, base: str, from_zone: str | None, to_zone: str | None, spec: LinkSpec) -> Iterator[Wanted]:
    given: dict[str, tuple[float, ...]] = {key: values for key in LINK_KEYS if (values := getattr(spec, key))}
    listed = tuple(key for key, values in given.items() if len(values) > 1)
    for number, combination in enumerate(product(*given.values()), start=1):
        link = dict(zip(given, combination, strict=True))
        yield Wanted(
            path=path,
            base=base,
            name="-".join((base, *(_TEXTS[key](link[key]) for key in listed))),
            from_zone=from_zone,
            to_zone=to_zone,
            link=link,
            number=number,
            listed=listed,
        )


_TEXTS: Mapping[str, Callable[[float], str]] = {
    "rtt": lambda seconds: f"{seconds * 1000:g}ms",
    "jitter": lambda seconds: f"jitter-{seconds * 1000:g}ms",
    "rate": lambda mbit: f"{mbit:g}mbit",
    "loss": lambda share: f"loss-{share * 100:g}pct",
    _WINDOW: lambda segments: f"initial-window-{segments:g}",
}
"""How names of placements write each value."""


# ---- services that run already


def refuse_several_distances(located: Located, answering: Sequence[External]) -> None:
    """Note stacks that answer from elsewhere than the first on another machine: a difference would be the network's."""
    away = [external.host for external in answering if not is_loopback(external.host)]
    for number, external in enumerate(answering):
        if away and external.host != away[0]:
            reason = f"it answers from another machine than {away[0]}: the difference would be the network's."
            located.add(("stacks", number), f"{reason} Measure them in two experiments.")
