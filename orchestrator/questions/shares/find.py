"""How much of the spread between median latencies is the protocol's, and how much each end's language's.

In every setting a complete part of the matrix of protocols and languages is decomposed (`estimates`), by the blocks in
which all of its cells have a median. The stack that the experiment names first for a language represents it. Whether cells
lie apart at all, and whether a change of language goes further than one of the protocol, is corrected over the run.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import exp, log, prod, sqrt
from typing import Literal, get_args

import numpy as np

from orchestrator.experiment.model.factors import OWN_DRIVERS
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.block_values import by_block, moved, why_no_value
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.shares.estimates import Decomposition, Effect, Estimate, decompose
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval

FactorName = Literal["protocol", "responder", "requester"]
Standing = Literal["more", "less", "not resolved"]
WhyNot = Literal["", "incomplete", "few blocks", "not apart"]
Key = tuple[str, str, str]
"""A place in the matrix: protocol, responder's language, requester's language."""

FACTORS: tuple[FactorName, ...] = get_args(FactorName)
_LANGUAGES = frozenset({"responder", "requester"})


@dataclass(frozen=True, kw_only=True)
class Share:
    """The share of one factor, or of the interaction of several beyond their own effects."""

    factors: tuple[FactorName, ...]
    share: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Change:
    """The root mean square ratio between two levels of a factor, which does not grow with their number as a share does.

    `beyond`: of a language, whether its change goes further than one of the protocol (Holm over the run); None where not
    both vary.
    """

    factor: FactorName
    times: float
    interval: Interval
    beyond: Standing | None = None


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One setting's matrix of protocols and languages.

    `factors` has the levels of those that vary in its complete part. `apart`: e to the SD between the cells' logs. With
    `why_not` nothing is known of the shares. `left_out`: labels of stacks outside of the complete part.
    """

    setting: str
    factors: dict[FactorName, tuple[str, ...]]
    cells: int
    blocks: int = 0
    apart: float | None = None
    apart_interval: Interval | None = None
    shares: tuple[Share, ...] = ()
    interactions: Share | None = None
    changes: tuple[Change, ...] = ()
    why_not: WhyNot = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Estimated:
    """A setting before anything is corrected over the run: its shares without figures, and the decomposition."""

    shares: Shares
    decomposition: Decomposition | None

    @property
    def p_value(self) -> float:
        """Of the cells being equal."""
        return 1.0 if self.decomposition is None else self.decomposition.variance.p_value

    @property
    def beyond(self) -> dict[FactorName, Estimate]:
        """By how much a change of each language does more than one of the protocol, where both vary."""
        names = tuple(self.shares.factors)
        if self.decomposition is None or "protocol" not in names:
            return {}
        protocol = names.index("protocol")
        return {
            name: self.decomposition.change_beyond(place, protocol)
            for place, name in enumerate(names)
            if name in _LANGUAGES
        }


def shares(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]) -> tuple[Shares, ...]:
    """Return the shares of each setting in which languages and another factor vary; `invalid` by a cell's id."""
    estimated = _estimates(plan, cells, invalid)
    levels = intervals.holm_levels([each.p_value for each in estimated])
    is_apart = [
        each.decomposition is not None and each.decomposition.variance.interval(level)[0] > 0
        for each, level in zip(estimated, levels, strict=True)
    ]
    beyond = standings(
        {
            (place, name): contrast
            for place, each in enumerate(estimated)
            if is_apart[place]
            for name, contrast in each.beyond.items()
        }
    )
    complete: list[Shares] = []
    for place, each in enumerate(estimated):
        if each.decomposition is None:
            complete.append(each.shares)
        elif is_apart[place]:
            of_setting = {name: standing for (at, name), standing in beyond.items() if at == place}
            complete.append(_with_figures(each.shares, each.decomposition, of_setting))
        else:
            complete.append(replace(each.shares, why_not="not apart"))
    return tuple(complete)


def _estimates(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]) -> list[_Estimated]:
    """Each setting in which a language and something else varies."""
    known = contrasts.languages_of_stacks({"resolved": plan.resolved})
    stacks = {stack.id for stack in plan.stacks if stack.control_of is None}
    groups: dict[tuple[object, ...], dict[Key, CellSummary]] = {}
    stacks_of: dict[tuple[object, ...], dict[str, None]] = {}
    for cell in cells:
        if cell.stack in stacks and cell.kind in ("call", "task"):
            # A responder's usual library for PostgreSQL comes with its language, as where stacks are compared.
            setting = (*cell.place, tuple(None if value in OWN_DRIVERS else value for value in cell.call))
            stacks_of.setdefault(setting, {})[cell.stack_label] = None
            if ends := known.get(cell.stack):
                groups.setdefault(setting, {}).setdefault((cell.protocol, *ends), cell)
    estimated = []
    for setting, by_key in groups.items():
        varies = [len({key[place] for key in by_key}) > 1 for place in range(len(FACTORS))]
        if sum(varies) > 1 and any(varies[1:]):
            most = max(len(by_block(cell.trials, "median")) for cell in by_key.values())
            fewest = max(1, min(most, FEWEST_BLOCKS))
            usable = {key: cell for key, cell in by_key.items() if _is_usable(cell, invalid, fewest, plan.matters)}
            estimated.append(_estimated(next(iter(by_key.values())).setting, usable, list(stacks_of[setting])))
    return estimated


def _is_usable(cell: CellSummary, invalid: Container[str], fewest: int, margin: float) -> bool:
    has_value = why_no_value(cell, "median") is None and moved(cell, "median", margin) is None
    return cell.id not in invalid and has_value and len(by_block(cell.trials, "median")) >= fewest


def complete_part(keys: Sequence[Key]) -> tuple[tuple[str, ...], ...]:
    """Return levels of each factor whose combinations are all there: the level with most gaps is left out, repeatedly."""
    levels = [list(dict.fromkeys(key[place] for key in keys)) for place in range(len(FACTORS))]
    there = set(keys)
    while gaps := [key for key in product(*levels) if key not in there]:
        missing = [
            (sum(key[place] == level for key in gaps) * len(of_factor), place, number)
            for place, of_factor in enumerate(levels)
            for number, level in enumerate(of_factor)
            if len(of_factor) > 1
        ]
        _, place, number = max(missing)
        del levels[place][number]
    return tuple(map(tuple, levels))


def _estimated(setting: str, usable: Mapping[Key, CellSummary], stacks: Sequence[str]) -> _Estimated:
    """Decompose the medians of a complete part of a matrix."""
    part = complete_part(list(usable)) if usable else ()
    factors = {name: levels for name, levels in zip(FACTORS, part, strict=False) if len(levels) > 1}
    if len(factors) < 2:
        shares = Shares(setting=setting, factors={}, cells=0, why_not="incomplete", left_out=tuple(stacks))
        return _Estimated(shares=shares, decomposition=None)
    kept = [usable[protocol, responder, requester] for protocol, responder, requester in product(*part)]
    medians = [by_block(cell.trials, "median") for cell in kept]
    blocks = sorted(set.intersection(*(set(values) for values in medians)))
    labels = {cell.stack_label for cell in kept}
    shares = Shares(
        setting=setting,
        factors=factors,
        cells=prod(map(len, part)),
        blocks=len(blocks),
        left_out=tuple(label for label in stacks if label not in labels),
    )
    if len(blocks) < FEWEST_BLOCKS:
        return _Estimated(shares=replace(shares, why_not="few blocks"), decomposition=None)
    logs = np.array([[log(values[block]) for values in medians] for block in blocks])
    shape = [len(levels) for levels in factors.values()]
    return _Estimated(shares=shares, decomposition=decompose(logs.reshape(len(blocks), *shape)))


def standings(contrasts: Mapping[tuple[int, FactorName], Estimate]) -> dict[tuple[int, FactorName], Standing]:
    """Return whether each contrast is more than nothing, less, or not resolved, corrected over all of them."""
    levels = intervals.holm_levels([contrast.p_value for contrast in contrasts.values()])
    resolved: dict[tuple[int, FactorName], Standing] = {}
    for (key, contrast), level in zip(contrasts.items(), levels, strict=True):
        low, high = contrast.interval(level)
        resolved[key] = "more" if low > 0 else "less" if high < 0 else "not resolved"
    return resolved


def _with_figures(base: Shares, decomposition: Decomposition, beyond: Mapping[FactorName, Standing]) -> Shares:
    names = tuple(base.factors)
    low, high = decomposition.variance.interval()
    return replace(
        base,
        apart=exp(sqrt(decomposition.variance.value)),
        apart_interval=(exp(sqrt(max(low, 0.0))), exp(sqrt(high))),
        shares=tuple(_share(names, decomposition, [effect]) for effect in decomposition.effects),
        interactions=_share(names, decomposition, [effect for effect in decomposition.effects if len(effect) > 1]),
        changes=tuple(_change(name, decomposition.change(place), beyond.get(name)) for place, name in enumerate(names)),
    )


def _share(names: Sequence[FactorName], decomposition: Decomposition, effects: Sequence[Effect]) -> Share:
    estimate = decomposition.share(effects)
    low, high = estimate.interval()
    return Share(
        factors=tuple(names[place] for place in sorted({place for effect in effects for place in effect})),
        share=_clipped(estimate.value),
        interval=(_clipped(low), _clipped(high)),
    )


def _change(name: FactorName, estimate: Estimate, beyond: Standing | None) -> Change:
    low, value, high = (
        exp(sqrt(max(0.0, square))) for square in (estimate.interval()[0], estimate.value, estimate.interval()[1])
    )
    return Change(factor=name, times=value, interval=(low, high), beyond=beyond)


def _clipped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _find(basis: Basis) -> tuple[Shares, ...]:
    return shares(basis.plan, basis.summary.cells, basis.invalid)


QUESTION: Question[tuple[Shares, ...]] = Question(
    name="shares", type=tuple[Shares, ...], empty=(), find=_find, applies=is_no_search
)
