"""Cells for the cost model whose truth is known: what hosts, distance, link and windows take is chosen here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import numpy as np

from orchestrator.experiment.plan.schedule import Member, seal
from orchestrator.questions.prediction.answer import Row, rows_of
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.network import network_ms, on_the_wire
from orchestrator.questions.prediction.shapes import Fit, ModelCell, Modelled, Series, Windows
from orchestrator.questions.prediction.surface import Way, surface

RTTS = (1.0, 5.0, 20.0, 50.0, 100.0)
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
PACED_SIZES = (100, 20_000, 300_000)
FIRST = 14_480.0
NEW = Windows(first=FIRST, growth=2.0, steady=None, is_stepped=True)
KEPT = Windows(first=None, growth=2.0, steady=None, is_stepped=True)


def paced(opening: int, *trips: float) -> Windows:
    """Of a control that paces what it sends, as BBR does: so many round trips for 20 kB and for 300 kB, besides opening."""
    fewest = opening + 1.0
    seen = zip((float(on_the_wire(size + 120.0)) for size in PACED_SIZES[1:]), trips, strict=True)
    rounds = ((326.0, fewest), (FIRST, fewest), *((size, fewest + more) for size, more in seen))
    return Windows(first=None, growth=2.0, steady=None, is_stepped=True, rounds=rounds)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """One stack: hosts' own time, what 1,000 bytes add (ms), round trips of opening, windows, noise as shares."""

    name: str = "rest"
    own: float = 0.8
    per_kb: float = 0.004
    opening: int = 0
    known: tuple[int, int] | None = None
    windows: Windows = KEPT
    window: int | None = None
    setting: str = "connections kept open"
    noise: float = 0.02
    network_noise: float = 0.002

    @property
    def series(self) -> Series:
        """What the model is told of it."""
        return Series(
            id=f"{self.name} {self.setting}",
            stack=self.name,
            label=self.name,
            call=(self.setting,),
            setting=self.setting,
            operation="echo",
            connection="reuse" if self.windows.first is None and not self.opening else "per-request",
            opens=self.known or (self.opening, self.opening),
            first_window=FIRST,
            window=self.window,
        )

    def latency(self, rtt: np.ndarray, size: float, rate: float = 1000.0) -> np.ndarray:
        """Without noise, ms."""
        wire = on_the_wire(size + 120.0)
        rtt = np.asarray(rtt, dtype=float)
        parts = network_ms(self.opening, wire, wire, rtt, np.asarray(rate), self.windows)
        return np.asarray(self.own + self.per_kb * size / 1000 + sum(parts))


@dataclass
class Lab:
    """Cells of several stacks over the same distances, sizes and blocks."""

    truths: tuple[Truth, ...]
    rtts: tuple[float, ...] = RTTS
    sizes: tuple[int, ...] = SIZES
    blocks: int = 5
    rate: float | None = 1000.0
    seed: int = 1
    sealed: frozenset[tuple[float, int]] = field(default_factory=frozenset)
    drift: float = 0.0

    def cells(self) -> list[ModelCell]:
        """With noise: of the hosts' time and of the network's, of each trial by itself, and of whole blocks."""
        random = np.random.default_rng(self.seed)
        slow = 1 + random.normal(0, self.drift, self.blocks)
        found = []
        for truth in self.truths:
            for asked in self.rtts:
                pinged = asked * (1 + random.normal(0, truth.network_noise / 4, self.blocks))
                for size in self.sizes:
                    found.append(self._cell(truth, asked, pinged, size, slow, random))
        return found

    def _cell(
        self, truth: Truth, asked: float, rtt: np.ndarray, size: int, slow: np.ndarray, random: np.random.Generator
    ) -> ModelCell:
        exact = truth.latency(rtt, size, self.rate or np.inf)
        own = truth.own + truth.per_kb * size / 1000
        noisy = own * (slow * (1 + random.normal(0, truth.noise, self.blocks)) - 1)
        wire = float(on_the_wire(size + 120.0))
        return ModelCell(
            cell=f"{truth.name}-{truth.setting}-{asked:g}ms-{size}".replace(" ", "-"),
            series=truth.series.id,
            placement=f"distance-{asked:g}ms",
            size=size,
            up=wire,
            down=wire,
            rate_mbit=self.rate,
            blocks=tuple(range(self.blocks)),
            rtt=tuple(float(value) for value in rtt),
            median=tuple(
                float(value)
                for value in exact + noisy + (exact - own) * random.normal(0, truth.network_noise, self.blocks)
            ),
            is_sealed=(asked, size) in self.sealed,
        )


def sealed_at(cells: list[ModelCell], share: float, seed: int) -> list[ModelCell]:
    """The same cells, some of them sealed: of each series the farthest with the largest payload, and others by chance."""
    random = np.random.default_rng(seed)
    found = list(cells)
    for series in dict.fromkeys(cell.series for cell in cells):
        places = [place for place, cell in enumerate(cells) if cell.series == series]
        corner = max(places, key=lambda place: (np.mean(cells[place].rtt), cells[place].size))
        # Of the smallest size and the nearest distance all stay: every size is then fitted, and so is opening.
        least = min(cells[place].size for place in places), min(np.mean(cells[place].rtt) for place in places)
        others = [
            p for p in places if p != corner and cells[p].size > least[0] and np.mean(cells[p].rtt) > least[1] * 1.5
        ]
        chosen = random.choice(others, size=min(len(others), round(share * len(places)) - 1), replace=False)
        for place in (corner, *chosen):
            found[place] = replace(cells[place], is_sealed=True)
    return found


def sealed_as_planned(cells: list[ModelCell], share: float, seed: int) -> list[ModelCell]:
    """The same cells, with those sealed that a plan of this seed seals; near cells and small ones among them."""
    chosen: set[str] = set()
    for series in dict.fromkeys(cell.series for cell in cells):
        members = [
            SimpleNamespace(
                cell=SimpleNamespace(id=cell.cell),
                rtt_s=float(cell.placement.removeprefix("distance-").removesuffix("ms")) / 1e3,
                size=cell.size,
            )
            for cell in cells
            if cell.series == series
        ]
        chosen |= set(seal(cast(list[Member], members), share, seed, series))
    return [replace(cell, is_sealed=cell.cell in chosen) for cell in cells]


def fitted(lab: Lab, *, is_sealed: bool = True, matters: float = 0.1) -> Modelled:
    """The model of these cells, a fifth of them sealed."""
    cells = sealed_at(lab.cells(), 0.2, 1) if is_sealed else lab.cells()
    series = tuple(truth.series for truth in lab.truths)
    fits, not_fitted = fit_all(series, cells)
    return Modelled(series=series, fits=fits, judged=judged(fits, cells, matters), refusals=(), not_fitted=not_fitted)


def predicted(fit: Fit, rtt: float, size: float, rate_mbit: float | None) -> Row:
    """What the model says of one place."""
    way = Way(fits=(fit,), rate_mbit=rate_mbit, judged=None, matters=0.1)
    return rows_of(surface(way, np.array([rtt]), np.array([float(size)])))[0]
