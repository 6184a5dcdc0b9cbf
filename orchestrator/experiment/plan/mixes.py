"""Mixes: several operations in one load, each with its share of the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import gcd, prod
from typing import Any, TypeAlias

from orchestrator.experiment.model.experiment import MixedSpec, MixOptions
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.mixed import Mixed
from orchestrator.experiment.plan.plan import Operation, PayloadFile, kind_of
from orchestrator.experiment.read.fields import MOST_ITEMS
from orchestrator.experiment.read.tree import Key

PER_UNIT = 10_000
"""Shares are told apart to a hundredth of a per cent."""

Path: TypeAlias = tuple[Key, ...]
Expand = Callable[[MixedSpec, Path], Iterator[tuple[Operation, PayloadFile | None]]]
"""Every operation and payload that an item of a mix asks, and the file it needs."""


def mixes(located: Located, item: int, options: MixOptions, expand: Expand) -> Iterator[Operation]:
    """Every combination of what the items of a mix ask; what cannot be mixed is noted at its place."""
    path: Path = ("operations", item, "mix", "of")
    asked: list[list[Operation]] = []
    for place, spec in enumerate(options.of):
        found = []
        for operation, file in expand(spec, (*path, place, spec.name)):
            if file is not None:
                located.add(
                    (*path, place), f"a mix carries what orch makes up itself, and {operation.label} needs a file."
                )
            elif kind_of(operation) != "call":
                located.add((*path, place), f"'{spec.name}' is no call, and a mix is made of calls.")
            else:
                found.append(operation)
        asked.append(found)
    labels = [operation.label for found in asked for operation in found]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        located.add(path, f"'{twice}' is given twice: add its shares up.")
        return
    weights = _weights([spec.share for spec in options.of])
    if min(weights) < 1:
        located.add(path, "a share is less than 0.01 %, the smallest that is drawn.")
        return
    if prod(map(len, asked)) > MOST_ITEMS:
        located.add(path, f"the lists make more than {MOST_ITEMS:,} mixes. Ask less at once.")
        return
    for operations in product(*asked):
        yield _mix(weights, operations)


def names(operation: Operation) -> tuple[str, ...]:
    """The operations that are asked, each once."""
    return tuple(dict.fromkeys(mixed.name for mixed in operation.mix)) or (operation.name,)


def payloads(operation: Operation) -> tuple[Mapping[str, Any], ...]:
    """What they carry."""
    return tuple(mixed.payload for mixed in operation.mix) or (operation.payload,)


def shares(operation: Operation) -> tuple[float, ...]:
    """Of all requests, how many are to ask each operation of a mix."""
    total = sum(mixed.weight for mixed in operation.mix)
    return tuple(mixed.weight / total for mixed in operation.mix)


def _weights(shares: list[float]) -> list[int]:
    found = [round(share * PER_UNIT) for share in shares]
    least = gcd(*found) or 1
    return [weight // least for weight in found]


def _mix(weights: list[int], operations: tuple[Operation, ...]) -> Operation:
    total = sum(weights)
    parts = [(f"{100 * weight / total:.6g}", operation) for weight, operation in zip(weights, operations, strict=True)]
    return Operation(
        id="-".join(("mix", *(f"{share}-{operation.id}" for share, operation in parts))),
        name="mix",
        label=f"mix {', '.join(f'{share} % {operation.label}' for share, operation in parts)}",
        request_bytes=round(sum(w * o.request_bytes for w, o in zip(weights, operations, strict=True)) / total),
        reply_bytes=round(sum(w * o.reply_bytes for w, o in zip(weights, operations, strict=True)) / total),
        mix=tuple(
            Mixed(
                weight=weight,
                name=operation.name,
                label=operation.label,
                payload=operation.payload,
                request_bytes=operation.request_bytes,
                reply_bytes=operation.reply_bytes,
            )
            for weight, operation in zip(weights, operations, strict=True)
        ),
    )
