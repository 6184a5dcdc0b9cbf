"""Which cells the cost model fits together, and which of them are sealed: kept from the fit, to test it. Pure."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from orchestrator.experiment.model.factors import short
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Stack

FEWEST_DISTANCES = 3
FEWEST_SIZES = 3
_FEWEST_ALIKE, _STAY = 2, 0.6  # cells of a size, and of a distance, that stay in the fit: so many, and such a share


@dataclass(frozen=True, kw_only=True)
class Member:
    """A cell of a series, and where it stands: the round trip that is wanted, and the larger message's content."""

    cell: Cell
    placement: Placement
    rtt_s: float
    size: int


def size_of(operation: Operation) -> int:
    """What a payload is called by: the content of the larger message, bytes."""
    return max(operation.request_bytes, operation.reply_bytes)


def series_id(cell: Cell, operation: Operation, placement: Placement, stack: Stack) -> str | None:
    """What cells have in common that differ in distance, size and requests in flight alone; None where not modelled.

    Modelled are calls over a distance, in a closed loop without think time, each by itself and of one operation.
    """
    load = cell.load
    is_plain = load.rate_per_s is None and not load.think_s and cell.find is None and not cell.mixed
    if cell.kind != "call" or not is_plain or placement.kind not in ("same-zone", "cross-region"):
        return None
    if stack.control_of is not None or stack.external is not None:
        return None
    one_way = operation.request_bytes != operation.reply_bytes
    other = min(operation.request_bytes, operation.reply_bytes)
    way = f"{'request' if operation.request_bytes < operation.reply_bytes else 'reply'}-{other}" if one_way else ""
    return "__".join(part for part in (cell.stack, operation.name, way, *short(cell.factors)) if part)


def by_series(
    cells: Sequence[Cell],
    stacks: Sequence[Stack],
    operations: Sequence[Operation],
    placements: Sequence[Placement],
    rtts_s: Mapping[str, float],
) -> dict[str, list[Member]]:
    """The modelled cells by their series. `rtts_s` is the wanted, published or guessed round trip by placement."""
    of_stack = {stack.id: stack for stack in stacks}
    of_operation = {operation.id: operation for operation in operations}
    of_placement = {placement.id: placement for placement in placements}
    found: dict[str, list[Member]] = {}
    for cell in cells:
        operation, placement = of_operation[cell.operation], of_placement[cell.placement]
        name = series_id(cell, operation, placement, of_stack[cell.stack])
        if name is not None:
            member = Member(cell=cell, placement=placement, rtt_s=rtts_s[placement.id], size=size_of(operation))
            found.setdefault(name, []).append(member)
    return found


def why_not_fitted(members: Sequence[Member]) -> str | None:
    """What must be added before these cells can be fitted and tested, as a clause; None where nothing must."""
    alone = [member for member in members if member.cell.load.concurrency == 1]
    if not alone:
        return "no cell with one request in flight: add 1 to `concurrency`"
    sizes, distances = {member.size for member in alone}, {member.rtt_s for member in alone}
    if len(sizes) < FEWEST_SIZES:
        more = FEWEST_SIZES - len(sizes)
        return f"{len(sizes)} payload{'s' * (len(sizes) != 1)}: add {more} more, small and large ones"
    if len(distances) < FEWEST_DISTANCES:
        more = FEWEST_DISTANCES - len(distances)
        return (
            f"{len(distances)} distance{'s' * (len(distances) != 1)}: add {more} more to `distance`, near and far ones"
        )
    if any(member.placement.link.loss for member in members):
        return "packets are lost, and loss is outside of the model: leave `loss` out"
    return None


def seal(members: Sequence[Member], share: float, seed: int, name: str) -> tuple[str, ...]:
    """The ids of the cells of a series that are kept from the fit: a share, at least one, drawn by the seed.

    The farthest distance with the largest payload is always among them. What stays can be fitted: most cells of each size
    and of each distance, three distances of the smallest size, and one of the two farthest of each.
    """
    corner = max(members, key=lambda m: (m.cell.load.concurrency == 1, m.rtt_s, m.size))
    others = sorted((m for m in members if m is not corner), key=lambda m: m.cell.id)
    random.Random(f"{seed}/sealed/{name}").shuffle(others)  # noqa: S311 - a choice, not a secret
    kept = list(members)
    sealed: list[str] = []
    for member in (corner, *others):
        if len(sealed) >= max(1, round(share * len(members))):
            break
        without = [m for m in kept if m is not member]
        if member is corner or _can_be_fitted(without, members):
            kept, sealed = without, [*sealed, member.cell.id]
    return tuple(sealed)


def _can_be_fitted(kept: Sequence[Member], members: Sequence[Member]) -> bool:
    alone = [m for m in kept if m.cell.load.concurrency == 1]
    smallest = min(member.size for member in members)
    if len({m.rtt_s for m in alone if m.size == smallest}) < FEWEST_DISTANCES:
        return False
    every = [m for m in members if m.cell.load.concurrency == 1]
    far = sorted({m.rtt_s for m in every})[-2:]
    sizes = {m.size for m in every}
    if not all(any(m.size == size and m.rtt_s in far for m in alone) for size in sizes):
        return False
    of_size, of_rtt = Counter(m.size for m in alone), Counter(m.rtt_s for m in alone)
    return all(of_size[size] >= _stay(count) for size, count in Counter(m.size for m in every).items()) and all(
        of_rtt[rtt] >= _stay(count) for rtt, count in Counter(m.rtt_s for m in every).items()
    )


def _stay(count: int) -> int:
    return min(count, max(_FEWEST_ALIKE, ceil(_STAY * count)))
