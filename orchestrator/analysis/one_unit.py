"""Tables whose cells are compared with one another show their latencies in one unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orchestrator.analysis.words import Unit, unit_for

Medians = Mapping[str, float | None]
"""A table's cells by their ids, with the median of each in milliseconds; None where it has none."""


def units(tables: Sequence[Medians], pairs: Iterable[tuple[str, str]]) -> list[Unit | None]:
    """The unit of each table, by the medians of all with which `pairs` of compared cells (their ids) join it.

    Tables are joined over others, too. None where none of them has a median.
    """
    first = _joined(tables, pairs)
    found: list[Unit | None] = []
    for number in first:
        medians = [
            median
            for table, other in zip(tables, first, strict=True)
            for median in table.values()
            if other == number and median is not None
        ]
        found.append(unit_for(medians) if medians else None)
    return found


def _joined(tables: Sequence[Medians], pairs: Iterable[tuple[str, str]]) -> list[int]:
    """For each table the place of the first that it is joined with; its own where there is none before it."""
    place = {cell: number for number, cells in enumerate(tables) for cell in cells}
    first = list(range(len(tables)))
    for one, other in pairs:
        if one in place and other in place:
            low, high = sorted((first[place[one]], first[place[other]]))
            first = [low if number == high else number for number in first]
    return first
