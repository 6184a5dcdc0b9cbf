"""Codecs alone: stacks of a client that encodes and decodes, and asks nobody. What only a call has is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.plan import Placement
from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE
from orchestrator.experiment.read.tree import Key
from orchestrator.experiment.read.units import format_duration, format_rate
from services.python.contract.lines import Load

NOBODY = "none"
"""The responder of a stack that asks nobody."""


def refuse_what_does_not_apply(
    located: Located, paths: Iterable[Sequence[Key]], placements: Sequence[Placement]
) -> None:
    """Note what an experiment asks of its codecs alone, whose items are at these paths, that only a call can have."""
    experiment = located.experiment
    items = list(dict.fromkeys(tuple(path) for path in paths))
    for factor in OF_THE_CALL:
        said = f"`{factor.name}` does not apply to a codec alone, which calls nobody: leave it out"
        for path in items:
            if getattr(experiment.stacks[int(path[1])], factor.name) is not None:
                located.add((*path, factor.name), f"{said}.")
        if items and factor.name in experiment.model_fields_set:
            every = len(items) == len(experiment.stacks)
            located.add((factor.name,), f"{said}{'' if every else ', and give it to the stacks that call'}.")
    if items and PROVIDERS[experiment.provider].makes_hosts:
        located.add(
            items[0],
            f"a codec alone needs no other host: it is measured on this machine, with `provider: {THIS_MACHINE}`.",
        )
    elif items and any(placement.kind != "local" for placement in placements):
        located.add(items[0], "a codec alone is at no distance from anybody: its only placement is local.")


def refusal_of_load(load: Load, calls: int = 1, *, is_search: bool = False) -> str | None:
    """Why a codec alone cannot be put under this load, with so many calls in a sample; None when it can.

    `is_search`: its rate is one that is searched for.
    """
    if is_search:
        offered = "a rate that `find` searches for"
    elif load.rate_per_s is not None:
        offered = f"a rate of {format_rate(load.rate_per_s)}"
    elif load.concurrency > 1:
        offered = f"a concurrency of {load.concurrency:,}"
    elif load.think_s:
        offered = f"a think time of {format_duration(load.think_s)}"
    elif calls > 1:
        offered = f"`calls: {calls}`"
    else:
        return None
    return f"a codec alone encodes and decodes one message after the other, so {offered} does not apply to it"
