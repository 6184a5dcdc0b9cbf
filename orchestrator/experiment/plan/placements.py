"""Where the two ends stand: from what the file says to zones and a wanted distance."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.experiment import PlacementSpec
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.plan import Link, Placement, PlacementKind
from orchestrator.experiment.plan.regions import AWAY_ZONE, HOME_ZONE, known_pairs, profile, region_of
from orchestrator.experiment.providers import EMULATING, PROVIDERS, any_of

_BUILT_IN = ("local", "same-zone", "cross-region")
_LINK_KEYS = ("rtt", "jitter", "rate", "loss")
_EXTERNAL = "external"
_EMULATED_RATE_MBIT = 1000.0  # a link without a rate lets its queue overflow at full speed


def resolve_placements(located: Located, *, is_elsewhere: bool = False) -> tuple[Placement, ...]:
    """Every placement with its zones and link; what cannot be is noted in `located`.

    `is_elsewhere`: who answers runs already, on another machine.
    """
    experiment = located.experiment
    if is_elsewhere:
        return _elsewhere(located)
    home = next((p.from_zone for p in experiment.placements if p.from_zone), HOME_ZONE)
    found: list[Placement] = []
    names: set[str] = set()
    for index, spec in enumerate(experiment.placements):
        path = ("placements", index)
        if spec.name in names:
            located.add(path, f"placement '{spec.name}' is given twice.")
            continue
        names.add(spec.name)
        if not PROVIDERS[experiment.provider].makes_hosts:
            placement = _on_this_machine(located, index, spec)
        else:
            placement = _between_hosts(located, index, spec, home)
        if placement is not None:
            found.append(placement)
    _refuse_two_distances(located, found)
    return tuple(found)


def _elsewhere(located: Located) -> tuple[Placement, ...]:
    """The one placement of responders that run already on another machine: called `external` unless it has a name."""
    experiment = located.experiment
    spec = experiment.placements[0]
    name = spec.name if "placements" in experiment.model_fields_set else _EXTERNAL
    given = [key for key in (*_LINK_KEYS, "from_zone", "to_zone") if getattr(spec, key) is not None]
    if len(experiment.placements) > 1 or name in _BUILT_IN or given:
        located.add(
            ("placements",),
            "the responders run already, on another machine: there is one placement, as far away as that machine is."
            f" Leave `placements` out (it is then called {_EXTERNAL}), or give one name of your own.",
        )
    return (Placement(id=name, name=name, kind="external"),)


def _on_this_machine(located: Located, index: int, spec: PlacementSpec) -> Placement | None:
    path = ("placements", index)
    if spec.name != "local" or spec.from_zone or spec.to_zone:
        others = (p for p in PROVIDERS.values() if p.about_distance)
        others_in_words = ", ".join(f"`provider: {p.name}` {p.about_distance}" for p in others)
        located.add(
            path,
            f"provider local has one machine, so '{spec.name}' is not available there: its only placement is local."
            f" {others_in_words}.",
        )
        return None
    given = [key for key in _LINK_KEYS if getattr(spec, key) is not None]
    if given:
        located.add((*path, given[0]), f"'{given[0]}' needs two hosts: both ends of a local placement share one.")
        return None
    return Placement(id="local", name="local", kind="local")


def _between_hosts(located: Located, index: int, spec: PlacementSpec, home: str) -> Placement | None:
    path = ("placements", index)
    zones = _zones(located, index, spec, home)
    if zones is None:
        return None
    from_zone, to_zone = zones
    provider = PROVIDERS[located.experiment.provider]
    kind: PlacementKind = "same-zone" if from_zone == to_zone else "cross-region"
    if spec.name == "local":
        kind = "local"
    if kind == "local" and from_zone != to_zone:
        located.add(path, "both ends of a local placement share one host, so `from` and `to` must be the same zone.")
        return None
    given = [key for key in _LINK_KEYS if getattr(spec, key) is not None]
    if given and kind == "local":
        located.add((*path, given[0]), f"'{given[0]}' needs two hosts: both ends of a local placement share one.")
    elif given and provider.distance == "real":
        located.add(
            (*path, given[0]),
            f"'{given[0]}' is the network's own on {provider.name}; leave it out, or use {any_of(EMULATING)}.",
        )
    link = Link()
    if kind != "local" and provider.distance == "emulated":
        link = _emulated_link(located, index, spec, from_zone, to_zone)
    return Placement(id=spec.name, name=spec.name, kind=kind, from_zone=from_zone, to_zone=to_zone, link=link)


def _zones(located: Located, index: int, spec: PlacementSpec, home: str) -> tuple[str, str] | None:
    if spec.name in ("local", "same-zone"):
        from_zone = spec.from_zone or spec.to_zone or home
        to_zone = spec.to_zone or from_zone
        if spec.name == "same-zone" and from_zone != to_zone:
            located.add(("placements", index), "a same-zone placement cannot have two zones; give it another name.")
            return None
        return from_zone, to_zone
    if spec.name == "cross-region" and not spec.from_zone and not spec.to_zone:
        return home, AWAY_ZONE if region_of(home) != region_of(AWAY_ZONE) else HOME_ZONE
    provider = PROVIDERS[located.experiment.provider]
    is_emulated = provider.distance == "emulated"
    if is_emulated and spec.rtt is not None and not spec.to_zone:
        return spec.from_zone or home, f"{provider.name}-{spec.name.replace('_', '-').strip('-')}-a"
    if not spec.from_zone or not spec.to_zone:
        missing = "from" if not spec.from_zone else "to"
        near = "" if spec.name in _BUILT_IN else f" {did_you_mean(spec.name, _BUILT_IN)}"
        located.add(
            ("placements", index),
            f"placement '{spec.name}' needs `{missing}`, a zone such as {HOME_ZONE}"
            f"{f', or on {provider.name} an `rtt`' if is_emulated else ''}.{near}",
        )
        return None
    return spec.from_zone, spec.to_zone


def _emulated_link(located: Located, index: int, spec: PlacementSpec, from_zone: str, to_zone: str) -> Link:
    known = profile(from_zone, to_zone)
    if spec.rtt is None and known is None:
        located.add(
            ("placements", index),
            f"no published round trip between {from_zone} and {to_zone} is known here"
            f" (known: {', '.join(known_pairs())}). Give one: `rtt: 80ms`.",
        )
    link = (
        known
        if spec.rtt is None and known is not None
        else Link(rtt_ms=None if spec.rtt is None else spec.rtt * 1000, source="the experiment file")
    )
    jitter_ms = (spec.jitter or 0.0) * 1000
    if link.rtt_ms is not None and jitter_ms > link.rtt_ms:
        located.add(("placements", index, "jitter"), "the jitter is larger than the round trip itself.")
    return replace(
        link,
        jitter_ms=jitter_ms,
        rate_mbit=spec.rate or _EMULATED_RATE_MBIT,
        loss=0.0 if spec.loss is None else spec.loss,
    )


def _refuse_two_distances(located: Located, placements: list[Placement]) -> None:
    seen: dict[frozenset[str | None], Placement] = {}
    for placement in placements:
        if placement.kind == "local":
            continue
        pair = frozenset({placement.from_zone, placement.to_zone})
        first = seen.setdefault(pair, placement)
        if first.link != placement.link:
            index = [spec.name for spec in located.experiment.placements].index(placement.name)
            located.add(
                ("placements", index),
                f"'{placement.name}' and '{first.name}' need different distances between the same two zones"
                f" ({placement.from_zone} and {placement.to_zone}); give one of them zones of its own.",
            )
