"""trial modes: whether trials of the same cell fall into two groups of speed.

A process may be fast or slow for its whole life, depending on its memory layout, its core or the state of the machine.
Then blocks agree only by chance, and a few of them may agree on a wrong ratio.

Each cell's medians are split into the two groups that leave the least variance within them (Fisher 1958, "On grouping
for maximum homogeneity"); what is left, as a share of all, is averaged over the cells of a placement and compared with
1,000 runs drawn with the same block effects and normal noise. Averaging over cells keeps one bad trial in one of them
from counting as a second group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import expm1
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, worst
from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.findings.block_values import by_block
from orchestrator.statistics.intervals import FEWEST_BLOCKS

Logs: TypeAlias = npt.NDArray[np.float64]

_ALPHA = 0.02
_DRAWS = 1_000
_LEAST_STEP = 0.05
_FEW_BLOCKS = 5  # with fewer, two groups often go undetected: not a pass


@dataclass(frozen=True, kw_only=True)
class Modes:
    """How well two groups describe trials: variance left within the groups, as a share of all, and what chance leaves.

    `step` is how much longer the slow group takes: 0.3 for 30 %, the median over cells.
    """

    variance_left: float
    variance_left_expected: float
    p_value: float
    step: float

    def are_there(self, placements: int = 1) -> bool:
        """Whether there are two groups, and apart by enough to matter; `placements` are looked at in the run."""
        return self.p_value <= _ALPHA / placements and self.step > _LEAST_STEP


def judge(run: RunEvidence) -> Finding | None:
    """The placement with the clearest groups."""
    placements = {cell.placement.id: cell.placement.name for cell in run.cells}
    return worst([_judge_placement(run, place, name, len(placements)) for place, name in placements.items()])


def find_modes(groups: Sequence[Logs]) -> Modes:
    """Split the trials of each cell in two. A group's logs have the shape (cells, blocks), with at least three blocks."""
    parted = [left_over(logs) for logs in groups]
    share = float(np.concatenate([shares for shares, _ in parted]).mean())
    source = np.random.default_rng(1)  # the same data give the same verdict
    drawn = np.concatenate([left_over(_drawn(logs, source))[0] for logs in groups], axis=1).mean(axis=1)
    return Modes(
        variance_left=share,
        variance_left_expected=float(drawn.mean()),
        p_value=float((1 + (drawn <= share).sum()) / (1 + _DRAWS)),
        step=expm1(float(np.median(np.concatenate([steps for _, steps in parted])))),
    )


def left_over(logs: Logs) -> tuple[Logs, Logs]:
    """Of values in the last axis, parted in two: the share of variance left within, and the distance of the means."""
    ordered = np.sort(logs, axis=-1)
    ordered = ordered - ordered[..., :1]  # so that squares do not drown in rounding
    n = ordered.shape[-1]
    sums, squares = ordered.cumsum(axis=-1), (ordered**2).cumsum(axis=-1)
    low, high = np.arange(1, n), np.arange(n - 1, 0, -1)
    means = sums[..., :-1] / low, (sums[..., -1:] - sums[..., :-1]) / high
    within = squares[..., -1:] - low * means[0] ** 2 - high * means[1] ** 2
    best = within.argmin(axis=-1, keepdims=True)
    total = squares[..., -1] - sums[..., -1] ** 2 / n
    least = np.take_along_axis(within, best, axis=-1)[..., 0]
    share = np.divide(np.maximum(least, 0.0), total, out=np.ones_like(total), where=total > 0)
    return share, np.take_along_axis(means[1] - means[0], best, axis=-1)[..., 0]


def _drawn(logs: Logs, source: np.random.Generator) -> Logs:
    """What `_DRAWS` runs with one group would have given, shape (draws, cells, blocks)."""
    cells, blocks = logs.shape
    if cells == 1:  # nothing shows what is the block's
        alone: Logs = logs.std(ddof=1) * source.normal(size=(_DRAWS, 1, blocks))
        return alone
    effects = logs.mean(axis=0) - logs.mean()
    rest = logs - logs.mean(axis=1, keepdims=True) - effects
    sd = np.sqrt((rest**2).sum() / (cells - 1) / (blocks - 1))
    seen = effects.var(ddof=1)
    own = np.sqrt(max(0.0, 1 - sd**2 / cells / seen)) if seen > 0 else 0.0  # the rest is the trials' noise
    drawn: Logs = effects * own + sd * source.normal(size=(_DRAWS, cells, blocks))
    return drawn


def _groups(run: RunEvidence, placement: str) -> Iterator[Logs]:
    """Logs of medians of cells that differ in the stack alone, as blocks act on them alike: (cells, blocks)."""
    groups: dict[tuple[object, ...], list[dict[int, float]]] = {}
    for cell in run.cells:
        medians = by_block((t.summary for t in cell.trials if t.summary), "median")
        if cell.placement.id == placement and len(medians) >= FEWEST_BLOCKS:
            groups.setdefault(cell.cell.setting, []).append(medians)
    for members in groups.values():
        blocks = sorted(set(members[0]).intersection(*members))
        if len(blocks) >= FEWEST_BLOCKS:
            yield np.log([[medians[block] for block in blocks] for medians in members])


def _judge_placement(run: RunEvidence, placement: str, name: str, placements: int) -> Finding:
    groups = list(_groups(run, placement))
    if not groups:
        return Finding(
            verdict="cannot tell",
            explanation=f"{name}: fewer than {FEWEST_BLOCKS} blocks cannot show groups of trials.",
            action="Raise `repeats`.",
        )
    modes = find_modes(groups)
    blocks = min(logs.shape[1] for logs in groups)
    evidence = {"placement": name, "cells": sum(len(logs) for logs in groups), "blocks": blocks, **modes.__dict__}
    if modes.are_there(placements):
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=modes.step,
            explanation=f"{name}: trials of the same cell fall into two groups, {quantities.difference(modes.step)} apart.",
            action="Raise `repeats` to 10, as a few blocks may agree by chance, and find out what differs between processes"
            " (core, clock frequency, other load: see `noise`).",
        )
    if blocks < _FEW_BLOCKS:
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"{name}: no groups of trials found, but {blocks} blocks would rarely show them.",
            action="Raise `repeats`; comparisons allow for such groups either way.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{name}: trials form one group.")


NAME = "trial modes"
CHECK = Check(name=NAME, severity="note", kinds=CALLS | CODECS | STREAMS, judge_run=judge)
