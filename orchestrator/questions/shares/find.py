"""How much of the spread between median latencies is the protocol's, and how much each end's language's.

In every setting the largest complete part of the matrix of protocols and languages is decomposed (`estimates`), by the
blocks in which all of its cells have a median. The stack that the experiment names first for a language represents it.
Whether cells lie apart at all, and whether a change of language goes further than one of the protocol, is corrected over
the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Literal, get_args

import numpy as np

from orchestrator.experiment.model.factors import OWN_DRIVERS
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.block_values import by_block, moved, why_no_value
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.shares import complete_matrix
from orchestrator.questions.shares.estimates import Decomposition, Effect, Estimate, decompose
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval, Reason, ReasonKind

FactorName = Literal["protocol", "responder", "requester"]
Standing = Literal["more", "less", "not resolved"]
WhyNot = Literal["", "too many levels", "incomplete", "few blocks", "not apart"]
Key = tuple[str, str, str]
"""A place in the matrix: protocol, responder's language, requester's language."""

FACTORS: tuple[FactorName, ...] = get_args(FactorName)
_LANGUAGES = frozenset({"responder", "requester"})


@dataclass(frozen=True, kw_only=True)
class Share:
    """What an effect carries: that of one factor, or the interaction of several beyond what each does alone."""

    factors: tuple[FactorName, ...]
    share: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Change:
    """How far a change of one factor usually goes: the root mean square ratio between two of its levels.

    It does not grow with the number of levels, as a share does. `beyond`: of a language, whether it goes further than a
    change of the protocol, by the interval of the difference (Holm over the run); None where not both vary.
    """

    factor: FactorName
    times: float
    interval: Interval
    beyond: Standing | None = None


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A cell that takes no part: for a `reason`, as another stack stands for its languages, or as it has `gaps` beside it.

    `gaps`: factors and levels of which not every cell is there. Without any, its responder's language is not known.
    """

    cell: str
    stack: str  # label
    reason: Reason | None = None
    instead: str = ""
    gaps: tuple[tuple[FactorName, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One setting's matrix of protocols and languages.

    `factors` has the levels of those that vary in its largest complete part. `apart`: e to the SD between the cells' logs,
    so that 2 means a factor of two either way is usual. `interactions`: all of them together. With `why_not` nothing is
    known of the shares.
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
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Matrix:
    """The cells of a setting, each in its place; `usable`: those with medians that can be compared."""

    setting: str
    by_key: Mapping[Key, CellSummary]
    usable: Mapping[Key, CellSummary]
    left_out: tuple[LeftOut, ...]

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Of each factor, in the order of the plan."""
        return tuple(tuple(dict.fromkeys(key[place] for key in self.by_key)) for place in range(len(FACTORS)))

    @property
    def is_crossed(self) -> bool:
        """Whether a language and something else varies."""
        varies = [len(levels) > 1 for levels in self.levels]
        return sum(varies) > 1 and any(varies[1:])


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


def shares(plan: Plan, cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> tuple[Shares, ...]:
    """Return the shares of each setting in which languages and another factor vary; `invalid` by a cell's id."""
    estimated = [_estimated(matrix) for matrix in _matrices(plan, cells, invalid) if matrix.is_crossed]
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


def _matrices(plan: Plan, cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> list[_Matrix]:
    known = contrasts.languages_of_stacks({"resolved": plan.resolved})
    stacks = {stack.id: stack for stack in plan.stacks if stack.control_of is None}
    groups: dict[tuple[object, ...], list[CellSummary]] = {}
    for cell in cells:
        if cell.stack in stacks and cell.kind in ("call", "task"):
            # A responder's usual library for PostgreSQL comes with its language, as where stacks are compared.
            call = tuple(None if value in OWN_DRIVERS else value for value in cell.call)
            groups.setdefault((*cell.place, call), []).append(cell)
    matrices = []
    for members in groups.values():
        by_key: dict[Key, CellSummary] = {}
        usable: dict[Key, CellSummary] = {}
        left: list[LeftOut] = []
        most = max(len(by_block(cell.trials, "median")) for cell in members)
        for cell in members:
            ends = known.get(cell.stack)
            key = (cell.protocol, *(ends or ("", "")))
            outside = LeftOut(cell=cell.id, stack=cell.stack_label)
            if ends is None:
                left.append(outside)
            elif key in by_key:
                left.append(replace(outside, instead=by_key[key].stack_label))
            else:
                by_key[key] = cell
                reason = _unusable(cell, invalid.get(cell.id, ()), min(most, FEWEST_BLOCKS), plan.matters)
                if reason is None:
                    usable[key] = cell
                else:
                    left.append(replace(outside, reason=reason))
        matrices.append(_Matrix(setting=members[0].setting, by_key=by_key, usable=usable, left_out=tuple(left)))
    return matrices


def _unusable(cell: CellSummary, failed: Sequence[str], fewest: int, margin: float) -> Reason | None:
    """Return why a cell cannot take part; None where it can."""
    if failed:
        return Reason(kind=ReasonKind.INVALID, cells=(cell.id,), names=tuple(failed))
    if reason := why_no_value(cell, "median") or moved(cell, "median", margin):
        return reason
    blocks = len(by_block(cell.trials, "median"))
    if blocks and blocks >= fewest:
        return None
    return Reason(kind=ReasonKind.FEW_BLOCKS, cells=(cell.id,), numbers={"blocks": blocks, "needed": fewest})


def _estimated(matrix: _Matrix) -> _Estimated:
    """Decompose the medians of the largest complete part of a matrix."""
    why_not: WhyNot = "incomplete"
    try:
        part = complete_matrix.largest(matrix.usable.keys(), matrix.levels) or ()
    except complete_matrix.TooManyLevelsError:
        part, why_not = (), "too many levels"
    keys = [(p, r, q) for p in part[0] for r in part[1] for q in part[2]] if part else []
    outside = [key for key in matrix.usable if key not in keys] if part else []
    base = Shares(
        setting=matrix.setting,
        factors={name: levels for name, levels in zip(FACTORS, part, strict=False) if len(levels) > 1},
        cells=len(keys),
        why_not="" if part else why_not,
        left_out=(*matrix.left_out, *(_outside(matrix, key, part) for key in outside)),
    )
    if not part:
        return _Estimated(shares=base, decomposition=None)
    medians = [by_block(matrix.usable[key].trials, "median") for key in keys]
    blocks = sorted(set.intersection(*(set(values) for values in medians)))
    base = replace(base, blocks=len(blocks))
    if len(blocks) < FEWEST_BLOCKS:
        return _Estimated(shares=replace(base, why_not="few blocks"), decomposition=None)
    shape = [len(levels) for levels in base.factors.values()]
    logs = np.array([[log(values[block]) for values in medians] for block in blocks]).reshape(len(blocks), *shape)
    return _Estimated(shares=base, decomposition=decompose(logs))


def _outside(matrix: _Matrix, key: Key, part: complete_matrix.Levels) -> LeftOut:
    """A cell that could be compared, with the levels by which it is outside of the complete part."""
    gaps = ((name, value) for name, value, levels in zip(FACTORS, key, part, strict=True) if value not in levels)
    return LeftOut(cell=matrix.by_key[key].id, stack=matrix.by_key[key].stack_label, gaps=tuple(gaps))


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
