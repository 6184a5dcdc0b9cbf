"""Trials in order: balanced blocks, so that drift of the machine or the network hits all cells alike.

A block is every cell once. Random order alone leaves, in a handful of blocks, one cell before another in all of them,
and whatever depends on the place in the block then looks like a difference between the two. So the orders of a
placement's blocks are rows of Williams squares (Williams 1949, "Experimental designs balanced for the estimation of
residual effects of treatments", Australian Journal of Scientific Research A 2), whose cells and rows are drawn by the
seed. How balanced they are is said at `balanced_orders`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import islice

from orchestrator.experiment.plan.plan import Cell, PlannedTrial


def schedule(cells: Sequence[Cell], repeats: int, seed: int) -> tuple[PlannedTrial, ...]:
    """Every cell once per block, in an order that the seed alone decides.

    Where rates are searched for, a repeat is as many blocks as the longest search has probes, and a block holds the n-th
    probe of each cell: those of shorter searches are not in its last ones.

    Within a block the placements come one after the other, so that each can be bracketed by its own baselines. Their
    order over the blocks is balanced, and so is that of the cells of each. The same seed gives the same order on every
    machine.
    """
    by_placement: dict[str, list[Cell]] = {}
    for cell in cells:
        by_placement.setdefault(cell.placement, []).append(cell)
    names = sorted(by_placement)
    rounds = max((cell.rounds for cell in cells), default=1)
    blocks = repeats * rounds
    placements = balanced_orders(len(names), blocks, _source(seed, "placements"))
    orders = {name: balanced_orders(len(by_placement[name]), blocks, _source(seed, f"cells/{name}")) for name in names}
    trials: list[PlannedTrial] = []
    for block in range(blocks):
        for placement in placements[block]:
            name = names[placement]
            for place in orders[name][block]:
                cell = by_placement[name][place]
                if block % rounds >= cell.rounds:
                    continue
                trial_seed = _trial_seed(seed, block, cell.operation)
                trials.append(PlannedTrial(index=len(trials), block=block, cell=cell.id, seed=trial_seed))
    return tuple(trials)


def balanced_orders(count: int, blocks: int, source: random.Random) -> tuple[tuple[int, ...], ...]:
    """An order of `range(count)` for each block, balanced after any number of them.

    That means:

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
        # Each row as it is asked for: a square of a thousand cells would be a million numbers.
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
    """The seed of a block's trials of an operation: all stacks are asked with the same content, at the same arrivals.

    Independent of which cells there are. It has 53 bits, as every reader of JSON keeps.
    """
    digest = hashlib.blake2b(f"{seed}/{block}/{operation}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11
