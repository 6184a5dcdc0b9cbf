"""The largest complete part of a matrix that has gaps: every combination of its levels has a cell. Pure.

A part in which more factors vary comes before one with more cells: a part with a single protocol, say, tells nothing of
protocols. Of equal ones that with the levels that are named first is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from itertools import combinations
from operator import and_
from typing import TypeAlias

Levels: TypeAlias = tuple[tuple[str, ...], ...]
"""Of each factor, its levels."""

MOST_PARTS = 1 << 16
"""So many parts are tried; a matrix with more of them is too large for this."""


class TooManyLevelsError(ValueError):
    """A matrix with more parts than can be tried."""


def largest(cells: Collection[tuple[str, str, str]], levels: Sequence[Sequence[str]]) -> Levels | None:
    """The levels of three factors of which every combination is among the cells; None where no two factors vary in any.

    `levels` gives their order. TooManyLevelsError where there are too many parts to try.
    """
    sizes = [len(of) for of in levels]
    by_size = sorted(range(3), key=lambda place: sizes[place])
    one, other, last = by_size
    if (1 << sizes[one]) * (1 << sizes[other]) > MOST_PARTS:
        raise TooManyLevelsError(f"{sizes[one]} and {sizes[other]} levels have too many parts")
    masks = _masks(cells, levels, (one, other, last))
    best: tuple[tuple[int, int], Levels] | None = None
    for of_one in _parts(range(sizes[one])):
        shared = [reduce(and_, (masks[a][b] for a in of_one)) for b in range(sizes[other])]
        for of_other in _parts([b for b in range(sizes[other]) if shared[b]]):
            mask = reduce(and_, (shared[b] for b in of_other))
            of_last = tuple(place for place in range(sizes[last]) if mask >> place & 1)
            counts = (len(of_one), len(of_other), len(of_last))
            rank = (sum(count > 1 for count in counts), counts[0] * counts[1] * counts[2])
            if not of_last or rank[0] < 2 or (best is not None and rank <= best[0]):
                continue
            found: list[tuple[str, ...]] = [(), (), ()]
            for place, chosen in ((one, of_one), (other, of_other), (last, of_last)):
                found[place] = tuple(levels[place][number] for number in chosen)
            best = rank, tuple(found)
    return None if best is None else best[1]


def _masks(
    cells: Collection[tuple[str, str, str]], levels: Sequence[Sequence[str]], order: tuple[int, int, int]
) -> list[list[int]]:
    """For each level of the first two factors of `order`, the levels of the third that have a cell with them, as bits."""
    one, other, last = order
    places = [{level: number for number, level in enumerate(of)} for of in levels]
    masks = [[0] * len(levels[other]) for _ in levels[one]]
    for cell in cells:
        masks[places[one][cell[one]]][places[other][cell[other]]] |= 1 << places[last][cell[last]]
    return masks


def _parts(levels: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every set of levels but the empty one, the largest first, and of those of a size the ones named first."""
    for count in range(len(levels), 0, -1):
        yield from combinations(levels, count)
