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


def seal_all(series: Mapping[str, Sequence[Member]], share: float, seed: int) -> tuple[str, ...]:
    """The ids of all cells that are kept from the fit, of the series that `by_series` found."""
    return tuple(cell for name, members in series.items() for cell in seal(members, share, seed, name))


def seal(members: Sequence[Member], share: float, seed: int, name: str) -> tuple[str, ...]:
    """The ids of the cells of a series that are kept from the fit: a share, at least one, drawn by the seed.

    The farthest distance with the largest payload is always among them. What stays can be fitted: most cells of each size
    and of each distance, three distances of the smallest size, and one of the two farthest of each.
    """
    corner = max(members, key=lambda m: (m.cell.load.concurrency == 1, m.rtt_s, m.size))
    others = sorted((m for m in members if m is not corner), key=lambda m: m.cell.id)
    random.Random(f"{seed}/sealed/{name}").shuffle(others)  # noqa: S311 - a choice, not a secret
    kept = _Kept(members)
    kept.lose(corner)
    sealed = [corner.cell.id]
    if not kept.can_be_fitted():
        return tuple(sealed)
    for member in others:
        if len(sealed) >= max(1, round(share * len(members))):
            break
        if kept.can_lose(member):
            kept.lose(member)
            sealed.append(member.cell.id)
    return tuple(sealed)


class _Kept:
    """What is not sealed of a series, counted: a plan from elsewhere may have thousands of cells in one."""

    def __init__(self, members: Sequence[Member]) -> None:
        alone = [member for member in members if member.cell.load.concurrency == 1]
        self._smallest = min(member.size for member in members)
        self._farthest = sorted({member.rtt_s for member in alone})[-2:]
        self._of_size, self._of_rtt = Counter(m.size for m in alone), Counter(m.rtt_s for m in alone)
        self._far = Counter(m.size for m in alone if m.rtt_s in self._farthest)  # by size
        self._small = Counter(m.rtt_s for m in alone if m.size == self._smallest)  # by distance
        self._least_of_size = {size: _stay(count) for size, count in self._of_size.items()}
        self._least_of_rtt = {rtt: _stay(count) for rtt, count in self._of_rtt.items()}

    def lose(self, member: Member) -> None:
        """Seal a cell."""
        if member.cell.load.concurrency != 1:
            return
        self._of_size[member.size] -= 1
        self._of_rtt[member.rtt_s] -= 1
        if member.rtt_s in self._farthest:
            self._far[member.size] -= 1
        if member.size == self._smallest:
            self._small[member.rtt_s] -= 1

    def can_be_fitted(self) -> bool:
        """Whether what is left can be."""
        return (
            sum(count > 0 for count in self._small.values()) >= FEWEST_DISTANCES
            and all(self._far[size] > 0 for size in self._of_size)
            and all(count >= self._least_of_size[size] for size, count in self._of_size.items())
            and all(count >= self._least_of_rtt[rtt] for rtt, count in self._of_rtt.items())
        )

    def can_lose(self, member: Member) -> bool:
        """Whether what can be fitted still can be without a further cell."""
        size, rtt = member.size, member.rtt_s
        if member.cell.load.concurrency != 1:
            return True
        if self._of_size[size] <= self._least_of_size[size] or self._of_rtt[rtt] <= self._least_of_rtt[rtt]:
            return False
        if rtt in self._farthest and self._far[size] <= 1:
            return False
        is_last = size == self._smallest and self._small[rtt] <= 1
        return not is_last or sum(count > 0 for count in self._small.values()) > FEWEST_DISTANCES


def _stay(count: int) -> int:
    return min(count, max(_FEWEST_ALIKE, ceil(_STAY * count)))
