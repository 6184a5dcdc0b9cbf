"""Which other choices of a run have a larger effect than what it compares, and which parts it did not vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log

from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, FETCH, OF_THE_CALL, STACK
from orchestrator.findings.block_values import ratios
from orchestrator.findings.limits import limiting_end, mean_of, responder_cpu
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import CellSummary
from orchestrator.statistics.equivalence import is_within
from orchestrator.statistics.intervals import FEWEST_BLOCKS, LogMean, holm_levels, log_mean

OF_THE_MEASUREMENT = ("processes", "requesters", "read_rate")  # nothing that a service chooses
_ENDS = ("responder", "client")
# `fetch` makes other calls, which is other work.
_CHOICES = (*(f.name for f in OF_THE_CALL if f.name not in (*OF_THE_MEASUREMENT, FETCH)), *_ENDS)


@dataclass(frozen=True)
class Effect:
    """A choice that the run varied: by how many ms the better value is quicker, in which cells it was seen.

    `is_sure`: whether their blocks tell the two apart, corrected for all that were looked at, by more than matters.
    """

    factor: str
    stack: str
    better: Value
    worse: Value
    gap: float
    place: tuple[object, ...]
    is_sure: bool = True


def effects(cells: Sequence[CellSummary], but: str, matters: float) -> list[Effect]:
    """Return the effect of every two cells that differ in one choice alone and have enough blocks; not by `but`."""
    pairs: list[tuple[Effect, LogMean]] = []
    for name in _CHOICES:
        if name == but or name not in BY_NAME or (but == STACK and name in _ENDS):  # which are stacks themselves
            continue
        alike: dict[tuple[object, ...], list[CellSummary]] = {}
        for cell in cells:
            if cell.factors.get(name) is not None:
                alike.setdefault(cell.apart_from(name), []).append(cell)
        for members in alike.values():
            pairs += [pair for two in combinations(members, 2) if (pair := _effect(name, *two))]
    levels = holm_levels([1.0 if result.p_value is None else result.p_value for _, result in pairs])
    judged = []
    for (effect, result), level in zip(pairs, levels, strict=True):
        interval = result.interval(level)
        is_apart = interval is not None and not interval[0] <= 1 <= interval[1] and not is_within(interval, matters)
        judged.append(replace(effect, is_sure=is_apart))
    return judged


def _effect(name: str, cell: CellSummary, other: CellSummary) -> tuple[Effect, LogMean] | None:
    if cell.distribution is None or other.distribution is None or cell.factors[name] == other.factors[name]:
        return None
    first, second = cell.distribution.median, other.distribution.median
    shared = ratios(cell, other, "median")
    if first is None or second is None or len(shared) < FEWEST_BLOCKS:
        return None
    result = log_mean([log(ratio) for ratio in shared.values()])
    better, worse = (cell, other) if first < second else (other, cell)
    effect = Effect(
        factor=name,
        stack=better.labels.stack,
        better=better.factors[name],
        worse=worse.factors[name],
        gap=abs(first - second),
        place=(cell.operation, cell.placement),
    )
    return effect, result


def greatest(effects: Sequence[Effect], rankings: Sequence[Ranking]) -> tuple[Effect, float] | None:
    """Return the effect that is larger than any difference compared where it was seen, and the largest such difference."""
    best: tuple[Effect, float] | None = None
    for effect in effects:
        if not effect.is_sure:
            continue
        gaps: list[float] = []
        for ranking in rankings:
            cell, tiers = ranking.cells[ranking.reference], ranking.tiers
            gap = ranking.gap(tiers[0].cells[0], tiers[-1].cells[-1]) if tiers else None
            if gap is not None and (cell.operation, cell.placement) == effect.place:
                gaps.append(gap)
        if gaps and effect.gap > max(gaps) and (best is None or effect.gap > best[0].gap):
            best = effect, max(gaps)
    return best


def limits(rankings: Sequence[Ranking]) -> dict[str, tuple[str, ...]]:
    """Return the labels of stacks by the end whose CPU is the limit at their load: `responder`, `requester` or `both`."""
    by_limit: dict[str, list[str]] = {}
    cells = {cell: ranking.cells[cell] for ranking in rankings for cell in ranking.names}
    for cell in cells.values():
        is_loaded = cell.kind == "call" and (int(cell.factors.get("concurrency") or 1) > 1 or cell.factors.get("rate"))
        if not is_loaded or not cell.trials:
            continue
        limit = limiting_end(
            mean_of(responder_cpu(trial) for trial in cell.trials), mean_of(trial.cpu_share for trial in cell.trials)
        )
        if limit in ("responder", "requester", "both"):
            by_limit.setdefault(limit, []).append(cell.labels.stack)
    return {end: tuple(dict.fromkeys(labels)) for end, labels in by_limit.items()}
