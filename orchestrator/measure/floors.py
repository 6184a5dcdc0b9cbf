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

    Cells whose bodies both fit one segment share a floor of the largest of them; every larger pair of sizes has its own.
    A cell whose sizes are not known gets none: its stack failed the smoke test.
    """
    small: dict[Policy, list[Cell]] = {}
    large: dict[tuple[Policy, int, int], list[Cell]] = {}
    for cell in cells:
        size = sizes.get((cell.stack, cell.operation))
        if size is None:
            continue
        if max(size) <= SMALL_BYTES:
            small.setdefault(cell.connection, []).append(cell)
        else:
            large.setdefault((cell.connection, *size), []).append(cell)
    shared = [
        Floor(
            policy=policy,
            send_bytes=max(sizes[c.stack, c.operation][0] for c in members),
            receive_bytes=max(sizes[c.stack, c.operation][1] for c in members),
            cells=tuple(c.id for c in members),
        )
        for policy, members in small.items()
    ]
    exact = [
        Floor(policy=policy, send_bytes=send, receive_bytes=receive, cells=tuple(c.id for c in members))
        for (policy, send, receive), members in large.items()
    ]
    return shared + exact


def load(rtt_s: float) -> tuple[Load, Warmup]:
    """A short look at the floor: 200 requests in at most 2 s, longer only where the distance asks for it."""
    at_most_s = min(_LONGEST_S, max(AT_MOST_S, _LEAST_ROUND_TRIPS * rtt_s))
    return (
        Load(concurrency=1, requests=REQUESTS, duration_s=at_most_s),
        Warmup(requests=WARMUP_REQUESTS, at_least_s=0.0, at_most_s=at_most_s / 4),
    )
