"""Lists of distances: each value, or combination of values, becomes a placement of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from orchestrator.experiment.model.experiment import Experiment
from orchestrator.experiment.model.placement import LINK_KEYS, LinkSpec, PlacementSpec
from orchestrator.experiment.read.tree import Key

_GRID = "distance"  # what placements of the key `distance` are called


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One placement with one value of each key, and where the file asks for it.

    `base` is the name that the file gives; `name` tells the values of lists, too. `number` is its place among those of the
    lists, from 1, and None where nothing is listed. Seconds, Mbit/s and shares, as the file has them.
    """

    path: tuple[Key, ...]
    base: str
    name: str
    from_zone: str | None
    to_zone: str | None
    link: Mapping[str, float]  # by key; what is not given is absent
    number: int | None = None
    listed: tuple[str, ...] = ()  # the keys that have several values


def given_placements(experiment: Experiment) -> tuple[PlacementSpec, ...]:
    """The placements of a file; those of its default only where it gives no `distance` either."""
    is_default = "placements" not in experiment.model_fields_set
    return () if is_default and experiment.distance is not None else experiment.placements


def wanted_placements(experiment: Experiment) -> Iterator[Wanted]:
    """Every placement that the file asks for: those of `placements` first, then those of `distance`."""
    for index, spec in enumerate(given_placements(experiment)):
        yield from _each(("placements", index), spec.name, spec.from_zone, spec.to_zone, spec)
    grid = experiment.distance
    if grid is None:
        return
    if grid.zones is None:
        yield from _each((_GRID,), _GRID, None, None, grid)
        return
    for index, pair in enumerate(grid.zones):
        name = f"{pair.from_zone}-{pair.to_zone}"
        yield from _each((_GRID, "zones", index), name, pair.from_zone, pair.to_zone, grid)


def count_placements(experiment: Experiment) -> int:
    """How many `wanted_placements` gives, without making them."""
    grid = experiment.distance
    count = sum(_combinations(spec) for spec in given_placements(experiment))
    return count + (_combinations(grid) * len(grid.zones or (None,)) if grid is not None else 0)


def _combinations(spec: LinkSpec) -> int:
    return prod(len(values) for key in LINK_KEYS if (values := getattr(spec, key)))


def _each(
    path: tuple[Key, ...], base: str, from_zone: str | None, to_zone: str | None, spec: LinkSpec
) -> Iterator[Wanted]:
    given: dict[str, tuple[float, ...]] = {key: values for key in LINK_KEYS if (values := getattr(spec, key))}
    listed = tuple(key for key, values in given.items() if len(values) > 1)
    for number, combination in enumerate(product(*given.values()), start=1):
        link = dict(zip(given, combination, strict=True))
        yield Wanted(
            path=path,
            base=base,
            name="-".join((base, *(_text(key, link[key]) for key in listed))),
            from_zone=from_zone,
            to_zone=to_zone,
            link=link,
            number=number if listed else None,
            listed=listed,
        )


def _text(key: str, value: float) -> str:
    """A value as names of placements tell it: `20ms`, `loss-1pct`."""
    if key == "rtt":
        return f"{value * 1000:g}ms"
    if key == "jitter":
        return f"jitter-{value * 1000:g}ms"
    if key == "initial_window":
        return f"initial-window-{value:g}"
    return f"{value:g}mbit" if key == "rate" else f"loss-{value * 100:g}pct"
