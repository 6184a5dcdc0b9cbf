"""The cells of one series as arrays, and what every step of a fit asks of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orchestrator import quantities
from orchestrator.experiment.plan.schedule import FEWEST_DISTANCES, FEWEST_SIZES
from orchestrator.questions.prediction.network import Floats, network_ms
from orchestrator.questions.prediction.shapes import ModelCell, Series, Windows
from orchestrator.statistics.intervals import FEWEST_BLOCKS

TINY_MS = 1e-4
_LEAST_RANGE_MS = 5.0  # between the nearest and the farthest distance


class NotFittedError(Exception):
    """Why a series has no model, as a sentence."""


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """By which share of the hosts' and of the network's time a cell lies off, one standard deviation."""

    hosts: float
    network: float


BEGIN = Scatter(hosts=0.03, network=0.004)
"""Before anything is known of it."""


def variance(hosts: Floats, network: Floats, scatter: Scatter) -> Floats:
    """Of cells whose hosts and network take so long, ms squared."""
    found: Floats = (scatter.hosts * hosts) ** 2 + (scatter.network * network) ** 2 + TINY_MS**2
    return found


class Data:
    """The cells of one series as arrays: n cells, b blocks that all of them have, s sizes."""

    def __init__(self, series: Series, cells: Sequence[ModelCell]) -> None:
        self.series = series
        self.all = cells
        self.cells = [cell for cell in cells if not cell.is_sealed and cell.in_flight == 1]
        _require_enough(series, self.cells)
        self.blocks = sorted(set.intersection(*(set(cell.blocks) for cell in self.cells)))
        if len(self.blocks) < FEWEST_BLOCKS:
            few = quantities.count(len(self.blocks), "block")
            raise NotFittedError(f"{few} of at least {FEWEST_BLOCKS}: plan more `repeats`")
        self.sizes = np.array(sorted({cell.size for cell in self.cells}))
        self.level = np.searchsorted(self.sizes, [cell.size for cell in self.cells])
        self.up, self.down = (np.array([getattr(cell, name) for cell in self.cells]) for name in ("up", "down"))
        self.rate = np.array([cell.rate_mbit or np.inf for cell in self.cells])
        self.rtt, self.y = self._by_block("rtt"), self._by_block("median")
        self.in_level = (self.level[:, None] == np.arange(self.sizes.size)[None, :]).astype(np.float64)

    def _by_block(self, name: str) -> Floats:
        rows = []
        for cell in self.cells:
            values = dict(zip(cell.blocks, getattr(cell, name), strict=True))
            rows.append([values[block] for block in self.blocks])
        return np.array(rows)

    @cached_property
    def mean_rtt(self) -> Floats:
        """The round trip of each cell over all blocks, ms."""
        return np.asarray(self.rtt.mean(axis=1))

    @cached_property
    def mean_y(self) -> Floats:
        """The median latency of each cell over all blocks, ms."""
        return np.asarray(self.y.mean(axis=1))

    def network(self, opening: int, windows: Windows) -> Floats:
        """What the network takes of each cell in each block."""
        column = (slice(None), None)
        parts = network_ms(opening, self.up[column], self.down[column], self.rtt, self.rate[column], windows)
        return sum(parts)  # type: ignore[return-value]


def _require_enough(series: Series, cells: Sequence[ModelCell]) -> None:
    sizes = sorted({cell.size for cell in cells})
    if len(sizes) < FEWEST_SIZES:
        has = quantities.listed([quantities.size(size) for size in sizes]) or "none"
        raise NotFittedError(
            f"{quantities.count(len(sizes), 'payload')} ({has}) of at least {FEWEST_SIZES} that are not sealed:"
            f" add sizes to `{series.operation}`, such as 100 B, 10 kB and 1 MB"
        )
    near = {cell.placement: float(np.mean(cell.rtt)) for cell in cells if cell.size == sizes[0]}
    rtts = sorted(near.values())
    if len(rtts) < FEWEST_DISTANCES or rtts[-1] - rtts[0] < _LEAST_RANGE_MS:
        has = quantities.listed([quantities.ms(rtt) for rtt in rtts]) or "none"
        raise NotFittedError(
            f"{quantities.count(len(rtts), 'distance')} ({has}) of at least {FEWEST_DISTANCES} for the smallest payload, "
            f"over"
            f" {_LEAST_RANGE_MS:g} ms or more, that are not sealed: add them to `distance`, such as 1ms, 20ms and 80ms"
        )


def least(data: Data, values: Floats) -> Floats:
    """The least value of each size."""
    return np.array([values[data.level == level].min() for level in range(data.sizes.size)])
