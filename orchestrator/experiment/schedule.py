"""Trials in order: randomised complete blocks, so that drift of the machine or the network hits all cells alike."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from orchestrator.experiment.plan import Cell, PlannedTrial


def schedule(cells: Sequence[Cell], repeats: int, seed: int) -> tuple[PlannedTrial, ...]:
    """Every cell once per block, in an order that the seed alone decides.

    Within a block the placements come one after the other, in random order, so that each can be bracketed by its own
    baselines; the cells of a placement are in random order. The same seed gives the same order on every machine.
    """
    by_placement: dict[str, list[Cell]] = {}
    for cell in cells:
        by_placement.setdefault(cell.placement, []).append(cell)
    trials: list[PlannedTrial] = []
    for block in range(repeats):
        source = random.Random(f"{seed}/{block}")  # noqa: S311 - an order, not a secret
        for placement in source.sample(sorted(by_placement), len(by_placement)):
            for cell in source.sample(by_placement[placement], len(by_placement[placement])):
                trial_seed = _trial_seed(seed, block, cell.id)
                trials.append(PlannedTrial(index=len(trials), block=block, cell=cell.id, seed=trial_seed))
    return tuple(trials)


def _trial_seed(seed: int, block: int, cell: str) -> int:
    """A seed of a trial's own (63 bits): independent of which other cells there are."""
    digest = hashlib.blake2b(f"{seed}/{block}/{cell}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
