"""Which floors stand beside which cells, and how each is measured. Pure.

A floor on a kept connection must not be limited by TCP itself. How fast a body beyond the initial window travels depends
on the connection's past: on a congestion window that grew, on a receive window that was tuned, and under BBR on a
bandwidth that is estimated while the connection starts and never again when requests do not fill the path. Two
connections with the same bodies settle at different speeds: over 120 ms, 300 kB each way took a plain exchange 248 ms
and gRPC 205 ms. So such a floor begins with one exchange eight times as large, after which it took 140 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from orchestrator.experiment.plan.plan import Cell
from services.python.contract.limits import Policy
from services.python.contract.lines import Load, Warmup
from services.python.contract.requester_lines import Done

SMALL_BYTES = 1_400  # fits one segment of Ethernet's 1,500 bytes, so its exact size hardly matters
REQUESTS = 200
WARMUP_REQUESTS = 50
AT_MOST_S = 2.0
INITIAL_WINDOW_BYTES = 10 * 1448  # RFC 6928, with the usual segment of an Ethernet path
_SAME = 0.01
_OPENING = 8
_LARGEST_OPENING = 32 * 2**20  # beyond, twice as large has to do
_OPENING_AT_MOST_S = 30.0  # 1.58 MB, eight times, both ways, over 7 Mbit/s
_LEAST_ROUND_TRIPS = 40
_LONGEST_S = 8.0
_WARMUP_WITH_OPENING = 4  # the first, the larger one, and two for the window to settle after it

Sizes = Mapping[tuple[str, ...], tuple[int, int]]
SizesOfMixes = Mapping[tuple[str, ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A raw TCP exchange of so many body bytes each way, and the cells it stands beside."""

    policy: Policy
    send_bytes: int
    receive_bytes: int
    cells: tuple[str, ...]

    @property
    def opening(self) -> int:
        """How many times as large the exchange is that opens TCP's window; 1 where there is no window to open."""
        largest = max(self.send_bytes, self.receive_bytes)
        if self.policy != "reuse" or largest <= INITIAL_WINDOW_BYTES:
            return 1
        return max(_OPENING // 4, min(_OPENING, _LARGEST_OPENING // largest))


def is_opened(floor: Floor, done: Done) -> bool:
    """Whether the larger exchange was made before the first that counts: it is the second of the warm-up."""
    return floor.opening > 1 and done.warmup_requests >= _WARMUP_WITH_OPENING


def floors(cells: Iterable[Cell], sizes: Sizes, mixed: SizesOfMixes = MappingProxyType({})) -> list[Floor]:
    """The floors of one placement's cells; `sizes` are the body bytes (sent, received) by `Cell.exchange`.

    `mixed` are those of each operation of a mix: one floor stands beside each.

    Cells of one policy share a floor, of the largest of them, where their sizes make no difference to it: bodies that
    fit one segment, or are within 1 % of each other (1.58 MB with and without a protocol's own four bytes). A cell
    whose sizes are not known gets none: its stack failed the smoke test. Nor does a stream, what is timed of which is one
    way, or a codec alone: no network is under it.
    """
    known = [
        (cell, size)
        for cell in cells
        if cell.exchange in sizes and cell.kind in ("call", "task")
        for size in mixed.get(cell.exchange) or (sizes[cell.exchange],)
    ]
    classes: list[list[tuple[Cell, tuple[int, int]]]] = []
    for cell, size in sorted(known, key=lambda item: (item[0].connection, item[1], item[0].id)):
        for members in classes:
            first, first_size = members[0]
            if first.connection == cell.connection and all(map(_alike, first_size, size)):
                members.append((cell, size))
                break
        else:
            classes.append([(cell, size)])
    return [
        Floor(
            policy=members[0][0].connection,
            send_bytes=max(send for _, (send, _) in members),
            receive_bytes=max(receive for _, (_, receive) in members),
            cells=tuple(dict.fromkeys(cell.id for cell, _ in members)),
        )
        for members in classes
    ]


def _alike(one: int, other: int) -> bool:
    larger = max(one, other)
    return larger <= SMALL_BYTES or larger - min(one, other) <= larger * _SAME


def load(floor: Floor, rtt_s: float) -> tuple[Load, Warmup]:
    """A short look at the floor: 200 requests in at most 2 s, longer only where the distance asks for it.

    Where a larger exchange opens the window, warm-up is not cut short before that.
    """
    at_most_s = min(_LONGEST_S, max(AT_MOST_S, _LEAST_ROUND_TRIPS * rtt_s))
    load = Load(concurrency=1, requests=REQUESTS, duration_s=at_most_s)
    if floor.opening > 1:
        fit = int(at_most_s / 4 / rtt_s) if rtt_s > 0 else WARMUP_REQUESTS
        requests = max(_WARMUP_WITH_OPENING, min(WARMUP_REQUESTS, fit))
        return load, Warmup(requests=requests, at_least_s=0.0, at_most_s=_OPENING_AT_MOST_S)
    return load, Warmup(requests=WARMUP_REQUESTS, at_least_s=0.0, at_most_s=at_most_s / 4)
