"""Trials in balanced blocks, so that drift hits all cells alike; and the cells that are held out of a model's fit.

A block is every cell once. Random order alone leaves, in a handful of blocks, one cell before another in all of them,
and whatever depends on the place in the block then looks like a difference between the two. So the orders of a
placement's blocks are rows of Williams squares (Williams 1949, "Experimental designs balanced for the estimation of
residual effects of treatments", Australian Journal of Scientific Research A 2), whose cells and rows are drawn by the
seed. `balanced_orders` says how balanced they are.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from orchestrator.experiment.model.factors import short
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, PlannedTrial, Stack


def schedule(cells: Sequence[Cell], repeats: int, seed: int) -> tuple[PlannedTrial, ...]:
    """Every cell once per block, in an order that the seed alone decides, placements one after the other.

    With searches, a repeat is as many blocks as the longest one has probes, and a block holds the n-th probe of each cell.
    """
    by_placement: dict[str, list[Cell]] = {}
    for cell in cells:
        by_placement.setdefault(cell.placement, []).append(cell)
    names = sorted(by_placement)
    rounds = max((cell.rounds for cell in cells), default=1)
    blocks = repeats * rounds
    placements = balanced_orders(len(names), blocks, _source(seed, "placements"))
    orders = {name: balanced_orders(len(by_placement[name]), blocks, _source(seed, f"cells/{name}")) for name in names}
    in_order = (
        (block, by_placement[names[placement]][place])
        for block in range(blocks)
        for placement in placements[block]
        for place in orders[names[placement]][block]
    )
    probes = ((block, cell) for block, cell in in_order if block % rounds < cell.rounds)
    return tuple(
        PlannedTrial(index=index, block=block, cell=cell.id, seed=_trial_seed(seed, block, cell.operation))
        for index, (block, cell) in enumerate(probes)
    )


def groups_of(cells: Sequence[Cell], most: int) -> dict[str, int]:
    """The number of each cell's group for turns, by id: of one placement, at most `most` cells, with whole settings."""
    groups: dict[str, int] = {}
    number = -1
    for placement in dict.fromkeys(cell.placement for cell in cells):
        room = 0
        settings: dict[object, list[Cell]] = {}
        for cell in cells:
            if cell.placement == placement:
                settings.setdefault(cell.setting, []).append(cell)
        for members in settings.values():
            each = ceil(len(members) / ceil(len(members) / most))
            for start in range(0, len(members), each):
                part = members[start : start + each]
                if len(part) > room:
                    number, room = number + 1, most
                groups |= {cell.id: number for cell in part}
                room -= len(part)
    return groups


def orders_of_turns(seed: int, block: int, group: int, cells: int, rounds: int) -> tuple[tuple[int, ...], ...]:
    """The order of a group's cells in each round of a block, balanced as that of a block's trials is."""
    return balanced_orders(cells, rounds, _source(seed, f"turns/{block}/{group}"))


def balanced_orders(count: int, blocks: int, source: random.Random) -> tuple[tuple[int, ...], ...]:
    """An order of `range(count)` for each block, balanced after any number of them.

    * the numbers of times that an item stood in each position differ by at most one;
    * of any two items, one came before the other at most once more often than the other way round; with an odd count,
      whose square cannot hold both rules, at most twice more often after an even number of blocks;
    * with an even count, the numbers of times that one item came immediately before another differ by at most one over
      all ordered pairs; with an odd count they are equal after `2 * count` blocks.
    """
    return tuple(islice(_rows(count, source), blocks))


def _rows(count: int, source: random.Random) -> Iterator[tuple[int, ...]]:
    """Rows without end, a newly drawn square after each that is complete."""
    first = _zigzag(count)
    while True:
        items = source.sample(range(count), count)
        shifts = _shifts(count, source)
        # Each row on demand: a square of a thousand cells would be a million numbers.
        for order in (first, first[::-1])[: 1 + count % 2]:
            yield from (tuple(items[(place + shift) % count] for place in order) for shift in shifts)


def _zigzag(count: int) -> list[int]:
    """0, n - 1, 1, n - 2, ...: the steps between neighbours differ, so that shifts of it balance who follows whom."""
    return [(count - 1 - place // 2) if place % 2 else place // 2 for place in range(count)]


def _shifts(count: int, source: random.Random) -> list[int]:
    """The rows of a square, each followed by the one that is its reverse (even count) or nearly so (odd count)."""
    half = (count + 1) // 2
    if count % 2:
        start, step = source.randrange(count), source.choice((half, count - half))
        return [(start + step * row) % count for row in range(count)]
    pairs = source.sample(range(half), half)
    return [shift for pair in pairs for shift in source.sample((pair, pair + half), 2)]


def _source(seed: int, what: str) -> random.Random:
    return random.Random(f"{seed}/{what}")  # noqa: S311 - an order, not a secret


def _trial_seed(seed: int, block: int, operation: str) -> int:
    """The seed of a block's trials of an operation, of 53 bits: all stacks get the same content, at the same arrivals."""
    digest = hashlib.blake2b(f"{seed}/{block}/{operation}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


FEWEST_DISTANCES = 3
FEWEST_SIZES = 3
NOT_OF_OWN_SERVICES = (
    "the cost model learns what bytes cost from three or more known payloads, and a call of your own service has only the"
    " sizes of its rows"
)
_FEWEST_ALIKE, _STAY = 2, 0.6  # cells of a size, and of a distance, that stay in the fit: so many, and such a share


@dataclass(frozen=True, kw_only=True)
class Member:
    """A cell of a series, and its place: the round trip that is wanted, and the larger message's content."""

    cell: Cell
    placement: Placement
    rtt_s: float
    size: int


def size_of(operation: Operation) -> int:
    """What a payload is called by: the content of the larger message, bytes."""
    return max(operation.request_bytes, operation.reply_bytes)


def series_id(cell: Cell, operation: Operation, placement: Placement, stack: Stack) -> str | None:
    """What cells have in common that differ in distance and size alone; None where not modelled."""
    load, sent, returned = cell.load, operation.request_bytes, operation.reply_bytes
    is_plain = load.concurrency == 1 and load.rate_per_s is None and not load.think_s and cell.find is None
    is_plain = is_plain and cell.kind == "call" and not cell.mixed and stack.control_of is None
    if not is_plain or stack.external is not None or placement.kind not in ("same-zone", "cross-region"):
        return None
    way = "" if sent == returned else f"request-{sent}" if sent < returned else f"reply-{returned}"
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
    series: dict[str, list[Member]] = {}
    for cell in cells:
        operation, placement = of_operation[cell.operation], of_placement[cell.placement]
        if name := series_id(cell, operation, placement, of_stack[cell.stack]):
            member = Member(cell=cell, placement=placement, rtt_s=rtts_s[placement.id], size=size_of(operation))
            series.setdefault(name, []).append(member)
    return series


def why_not_fitted(members: Sequence[Member]) -> str | None:
    """What must be added before these cells can be fitted and tested, as a clause; None where nothing must."""
    sizes, distances = {member.size for member in members}, {member.rtt_s for member in members}
    if more := max(0, FEWEST_SIZES - len(sizes)):
        return f"{len(sizes)} payload{'s' * (len(sizes) != 1)}: add {more} more, small and large ones"
    if more := max(0, FEWEST_DISTANCES - len(distances)):
        known = f"{len(distances)} distance{'s' * (len(distances) != 1)}"
        return f"{known}: add {more} more to `distance`, near and far ones"
    if any(member.placement.link.loss for member in members):
        return "packets are lost, and loss is outside of the model: leave `loss` out"
    return None


def seal_all(series: Mapping[str, Sequence[Member]], share: float, seed: int) -> tuple[str, ...]:
    """The ids of all cells that are kept from the fit, of the series that `by_series` found."""
    return tuple(cell for name, members in series.items() for cell in seal(members, share, seed, name))


def seal(members: Sequence[Member], share: float, seed: int, name: str) -> tuple[str, ...]:
    """The ids of the cells of a series that are kept from the fit: a share, at least one, drawn by the seed.

    The farthest distance with the largest payload is always among them. What stays can be fitted: most cells of each size
    and of each distance, three distances of the smallest size, and one of the two farthest of each.
    """
    corner = max(members, key=lambda m: (m.rtt_s, m.size))
    others = sorted((m for m in members if m is not corner), key=lambda m: m.cell.id)
    random.Random(f"{seed}/sealed/{name}").shuffle(others)  # noqa: S311 - a choice, not a secret
    kept, sealed = [m for m in members if m is not corner], [corner.cell.id]
    for member in others if _can_be_fitted(kept, members) else ():
        rest = [m for m in kept if m is not member]
        if len(sealed) < round(share * len(members)) and _can_be_fitted(rest, members):
            kept = rest
            sealed.append(member.cell.id)
    return tuple(sealed)


def _can_be_fitted(kept: Sequence[Member], members: Sequence[Member]) -> bool:
    """Whether what is kept of a series has enough sizes and distances."""
    smallest = min(member.size for member in members)
    farthest = sorted({member.rtt_s for member in members})[-2:]
    return (
        len({m.rtt_s for m in kept if m.size == smallest}) >= FEWEST_DISTANCES
        and {m.size for m in kept if m.rtt_s in farthest} == {m.size for m in members}
        and _have_enough(Counter(m.size for m in members), Counter(m.size for m in kept))
        and _have_enough(Counter(m.rtt_s for m in members), Counter(m.rtt_s for m in kept))
    )


def _have_enough(every: Counter[float], kept: Counter[float]) -> bool:
    return all(kept[key] >= min(count, max(_FEWEST_ALIKE, ceil(_STAY * count))) for key, count in every.items())
