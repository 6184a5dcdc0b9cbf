"""Which floors stand beside which cells: one per connection policy and size class. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.experiment.plan import Cell
from services.harness.contract import Load, Warmup
from services.harness.spec import Policy

SMALL_BYTES = 1_400  # fits one segment of Ethernet's 1,500 bytes, so its exact size hardly matters
REQUESTS = 200
WARMUP_REQUESTS = 50
AT_MOST_S = 2.0
_SAME = 0.01
_LEAST_ROUND_TRIPS = 40
_LONGEST_S = 8.0

Sizes = Mapping[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A raw TCP exchange of so many body bytes each way, and the cells it stands beside."""

    policy: Policy
    send_bytes: int
    receive_bytes: int
    cells: tuple[str, ...]


def floors(cells: Iterable[Cell], sizes: Sizes) -> list[Floor]:
    """The floors of one placement's cells; `sizes` are the body bytes (sent, received) by (stack, operation).

    Cells of one policy share a floor, of the largest of them, where their sizes make no difference to it: bodies that
    fit one segment, or are within 1 % of each other (1.58 MB with and without a protocol's own four bytes). A cell
    whose sizes are not known gets none: its stack failed the smoke test.
    """
    known = [(cell, sizes[cell.stack, cell.operation]) for cell in cells if (cell.stack, cell.operation) in sizes]
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
            cells=tuple(cell.id for cell, _ in members),
        )
        for members in classes
    ]


def _alike(one: int, other: int) -> bool:
    larger = max(one, other)
    return larger <= SMALL_BYTES or larger - min(one, other) <= larger * _SAME


def load(rtt_s: float) -> tuple[Load, Warmup]:
    """A short look at the floor: 200 requests in at most 2 s, longer only where the distance asks for it."""
    at_most_s = min(_LONGEST_S, max(AT_MOST_S, _LEAST_ROUND_TRIPS * rtt_s))
    return (
        Load(concurrency=1, requests=REQUESTS, duration_s=at_most_s),
        Warmup(requests=WARMUP_REQUESTS, at_least_s=0.0, at_most_s=at_most_s / 4),
    )
