"""Whose the spread between cells is where stacks form a matrix of protocols and of languages at both ends.

In every setting, the largest complete part of the matrix is decomposed (`share_estimates`), by the blocks in which all
of its cells have a value. A language is represented by the stack that the experiment names first for it. Whether a
change of language goes further than one of the protocol is corrected over the run, and so is whether cells lie apart
at all: before that no share is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Literal, get_args

import numpy as np

from orchestrator import quantities
from orchestrator.experiment.model.factors import OWN_DRIVERS
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.blocks import by_block, moved, why_no_value
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.shares import complete_matrix
from orchestrator.questions.shares import estimates as share_estimates
from orchestrator.questions.shares.estimates import Decomposition, Effect, Estimate
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval, Reason, ReasonKind

FactorName = Literal["protocol", "responder", "requester"]


Standing = Literal["more", "less", "not resolved"]


Quantity = Literal["median", "throughput", "responder_cpu", "requester_cpu"]


@dataclass(frozen=True, kw_only=True)
class Factor:
    """A factor that varies in the part of the matrix that shares are of."""

    name: FactorName
    levels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Share:
    """What an effect carries: that of one factor, or the interaction of several beyond what each does alone."""

    factors: tuple[FactorName, ...]
    share: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Change:
    """How far a change of one factor usually goes: the root mean square ratio between two of its levels.

    It is e to the root of the mean squared difference of their logs, whatever the other factors are, so that it does not
    grow with the number of levels. `beyond`: of a language, whether it goes further than a change of the protocol; None
    where that was not asked. It follows the interval of the difference, corrected (Holm) over all that are asked of the
    run, of each quantity by itself.
    """

    factor: FactorName
    times: float
    interval: Interval
    beyond: Standing | None = None


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far one quantity's cells lie apart, and whose that is; `why_not` is a clause that says why it cannot be told.

    `apart`: e to the SD between the cells' logs: 2 means a factor of two either way is usual. `noise`: of the spread of
    single trials, what they differ by from block to block in one cell, which is in no share. `interactions`: all of
    them together.
    """

    quantity: Quantity
    blocks: int = 0
    apart: float | None = None
    apart_interval: Interval | None = None
    shares: tuple[Share, ...] = ()
    interactions: Share | None = None
    languages: Share | None = None
    changes: tuple[Change, ...] = ()
    noise: float | None = None
    noise_interval: Interval | None = None
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell in a matrix of medians; `is_counted`: it belongs to the part that shares are of. Milliseconds."""

    cell: str
    median: float | None
    is_counted: bool
    is_invalid: bool = False


@dataclass(frozen=True, kw_only=True)
class Medians:
    """The medians of one protocol: a row for each requester's language, a column for each responder's.

    `requesters` and `responders`: the language, and the implementation that stands for it.
    """

    protocol: str
    requesters: tuple[tuple[str, str], ...]
    responders: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Entry | None, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A cell that takes no part, and why.

    `reason` where its medians cannot be compared. Nothing where the language of its responder is not known.
    """

    cell: str
    stack: str  # label
    reason: Reason | None = None
    instead: str = ""  # the stack that stands for the same languages
    gaps: tuple[tuple[str, str], ...] = ()  # factors and levels of which not every cell is there


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One setting's matrix of protocols and languages; `factors` are those that vary in its largest complete part."""

    setting: str
    factors: tuple[Factor, ...]
    cells: int
    spreads: tuple[Spread, ...]
    medians: tuple[Medians, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def of_latency(self) -> Spread:
        """That of the medians, which is there always."""
        return self.spreads[0]

    @property
    def is_told(self) -> bool:
        """Whether it answers whose the spread is."""
        return not self.of_latency.why_not


FACTORS: tuple[FactorName, ...] = get_args(FactorName)
_LANGUAGES = frozenset({"responder", "requester"})

Key = tuple[str, str, str]
"""A place in the matrix: protocol, responder's language, requester's language."""


@dataclass(frozen=True, kw_only=True)
class _Matrix:
    """The cells of a setting, each in its place; `usable`: those with medians that can be compared."""

    setting: str
    at: Mapping[Key, CellSummary]
    usable: Mapping[Key, CellSummary]
    left_out: tuple[LeftOut, ...]

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Of each factor, in the order of the plan."""
        return tuple(tuple(dict.fromkeys(key[place] for key in self.at)) for place in range(len(FACTORS)))


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What the trials of one quantity gave in one setting, before anything is corrected over all of them."""

    quantity: Quantity
    blocks: int
    names: tuple[FactorName, ...]
    of: Decomposition | None
    why_not: str = ""

    @property
    def p_value(self) -> float:
        """Of the cells being equal."""
        return 1.0 if self.of is None else self.of.variance.p_value

    def effects(self, allowed: frozenset[str]) -> list[Effect]:
        """The effects of these factors alone."""
        of = () if self.of is None else self.of.effects
        return [effect for effect in of if {self.names[place] for place in effect} <= allowed]

    @property
    def beyond(self) -> dict[FactorName, Estimate]:
        """By how much a change of each language does more than one of the protocol, where both vary."""
        if self.of is None or "protocol" not in self.names:
            return {}
        protocol = self.names.index("protocol")
        return {
            name: self.of.change_beyond(place, protocol) for place, name in enumerate(self.names) if name in _LANGUAGES
        }


def shares(plan: Plan, cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> tuple[Shares, ...]:
    """Each setting in which languages and another factor vary, in the order of its cells; `invalid` by a cell's id."""
    matrices = [matrix for matrix in _matrices(plan, cells, invalid) if _is_asked(matrix)]
    parts = [_part(matrix) for matrix in matrices]
    found = [
        {quantity: _decomposed(quantity, matrix, part) for quantity in get_args(Quantity)}
        for matrix, (part, _) in zip(matrices, parts, strict=True)
    ]
    judged: list[dict[Quantity, Spread]] = [{} for _ in matrices]
    for quantity in get_args(Quantity):
        for place, spread in enumerate(_judged([of[quantity] for of in found])):
            judged[place][quantity] = spread
    return tuple(
        _told(matrix, part, why, list(spreads.values()))
        for matrix, (part, why), spreads in zip(matrices, parts, judged, strict=True)
    )


def _matrices(plan: Plan, cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> list[_Matrix]:
    known = contrasts.languages_of_stacks({"resolved": plan.resolved})
    stacks = {stack.id: stack for stack in plan.stacks if stack.control_of is None}
    groups: dict[tuple[object, ...], list[CellSummary]] = {}
    for cell in cells:
        if cell.stack in stacks and cell.kind in ("call", "task"):
            # A responder's usual library for PostgreSQL comes with its language, as where stacks are compared.
            call = tuple(None if value in OWN_DRIVERS else value for value in cell.call)
            groups.setdefault((*cell.place, call), []).append(cell)
    found = []
    for members in groups.values():
        at: dict[Key, CellSummary] = {}
        usable: dict[Key, CellSummary] = {}
        left: list[LeftOut] = []
        most = max(len(by_block(cell.trials, "median")) for cell in members)
        for cell in members:
            ends = known.get(cell.stack)
            key = (cell.protocol, *(ends or ("", "")))
            outside = LeftOut(cell=cell.id, stack=cell.stack_label)
            if ends is None:
                left.append(outside)
            elif key in at:
                left.append(replace(outside, instead=at[key].stack_label))
            else:
                at[key] = cell
                reason = _unusable(cell, invalid.get(cell.id, ()), min(most, FEWEST_BLOCKS), plan.matters)
                if reason is None:
                    usable[key] = cell
                else:
                    left.append(replace(outside, reason=reason))
        found.append(_Matrix(setting=members[0].setting, at=at, usable=usable, left_out=tuple(left)))
    return found


def _unusable(cell: CellSummary, failed: Sequence[str], fewest: int, margin: float) -> Reason | None:
    """Why a cell cannot take part; None where it can."""
    if failed:
        return Reason(kind=ReasonKind.INVALID, cells=(cell.id,), names=tuple(failed))
    if reason := why_no_value(cell, "median") or moved(cell, "median", margin):
        return reason
    blocks = len(by_block(cell.trials, "median"))
    if blocks and blocks >= fewest:
        return None
    return Reason(kind=ReasonKind.FEW_BLOCKS, cells=(cell.id,), numbers={"blocks": blocks, "needed": fewest})


def _is_asked(matrix: _Matrix) -> bool:
    """Whether a language and something else varies, so that there is something to tell apart."""
    varies = [len(levels) > 1 for levels in matrix.levels]
    return sum(varies) > 1 and any(varies[1:])


def _part(matrix: _Matrix) -> tuple[complete_matrix.Levels, str]:
    """The levels of the largest complete part; without one why there is none, as a clause."""
    try:
        found = complete_matrix.largest(matrix.usable.keys(), matrix.levels)
    except complete_matrix.TooManyLevelsError as error:
        return (), str(error)
    if found is None:
        return (), "no part of the matrix is complete: two factors with two values each, and every cell of them"
    return found, ""


def _decomposed(quantity: Quantity, matrix: _Matrix, part: complete_matrix.Levels) -> _Found:
    names = tuple(name for name, levels in zip(FACTORS, part, strict=False) if len(levels) > 1)
    cells = [matrix.usable[(p, r, q)] for p in part[0] for r in part[1] for q in part[2]] if part else []
    values = [by_block(cell.trials, quantity) for cell in cells]
    without = [cell for cell, of in zip(cells, values, strict=True) if not of]
    untold = next((cell for cell in cells if why_no_value(cell, quantity)), None)
    blocks = sorted(set.intersection(*(set(of) for of in values))) if values else []

    def none(why: str) -> _Found:
        return _Found(quantity=quantity, blocks=len(blocks), names=names, of=None, why_not=why)

    if not cells:
        return none("no part of the matrix is complete")
    if without:
        return none(f"it is not known of {without[0].stack_label}")
    if untold:
        return none(f"too few blocks have a value of {untold.stack_label}")
    if len(blocks) < FEWEST_BLOCKS:
        return none(
            f"all cells have a value in {quantities.count(len(blocks), 'block')}, and an interval takes {FEWEST_BLOCKS}"
        )
    shape = tuple(len(levels) for levels in part if len(levels) > 1)
    logs = np.array([[log(of[block]) for of in values] for block in blocks]).reshape(len(blocks), *shape)
    of = share_estimates.decompose(logs)
    return none("all cells are equal in every block") if of is None else replace(none(""), of=of)


def _judged(found: Sequence[_Found]) -> list[Spread]:
    """One quantity in all settings, corrected over them."""
    levels = intervals.holm_levels([of.p_value for of in found])
    is_apart = [
        of.of is not None and of.of.variance.interval(level)[0] > 0 for of, level in zip(found, levels, strict=True)
    ]
    asked = {
        (place, name): contrast
        for place, of in enumerate(found)
        if is_apart[place]
        for name, contrast in of.beyond.items()
    }
    told = standings(asked)
    judged = []
    for place, of in enumerate(found):
        if of.of is None:
            judged.append(Spread(quantity=of.quantity, blocks=of.blocks, why_not=of.why_not))
        elif not is_apart[place]:
            why = "its cells are not told apart from each other"
            judged.append(Spread(quantity=of.quantity, blocks=of.blocks, why_not=why))
        else:
            judged.append(_spread(of, of.of, {name: said for (at, name), said in told.items() if at == place}))
    return judged


def standings(asked: Mapping[tuple[int, FactorName], Estimate]) -> dict[tuple[int, FactorName], Standing]:
    """Whether each is more than nothing, less, or not resolved, corrected over all of them."""
    levels = intervals.holm_levels([contrast.p_value for contrast in asked.values()])
    found: dict[tuple[int, FactorName], Standing] = {}
    for (key, contrast), level in zip(asked.items(), levels, strict=True):
        low, high = contrast.interval(level)
        found[key] = "more" if low > 0 else "less" if high < 0 else "not resolved"
    return found


def _spread(found: _Found, of: Decomposition, beyond: Mapping[FactorName, Standing]) -> Spread:
    low, high = of.variance.interval()
    together = [effect for effect in of.effects if len(effect) > 1]
    ours = found.effects(_LANGUAGES)
    return Spread(
        quantity=found.quantity,
        blocks=found.blocks,
        apart=exp(sqrt(of.variance.value)),
        apart_interval=(exp(sqrt(max(low, 0.0))), exp(sqrt(high))),
        shares=tuple(_share(found, of, [effect]) for effect in of.effects),
        interactions=_share(found, of, together),
        languages=_share(found, of, ours) if len(ours) > 1 else None,
        changes=tuple(_change(name, of.change(at), beyond.get(name)) for at, name in enumerate(found.names)),
        noise=_cut(of.noise.value),
        noise_interval=_cut_interval(of.noise.interval()),
    )


def _share(found: _Found, of: Decomposition, effects: Sequence[Effect]) -> Share:
    estimate = of.share(effects)
    factors = sorted({place for effect in effects for place in effect})
    return Share(
        factors=tuple(found.names[place] for place in factors),
        share=_cut(estimate.value),
        interval=_cut_interval(estimate.interval()),
    )


def _change(name: FactorName, of: Estimate, beyond: Standing | None) -> Change:
    low, value, high = (exp(sqrt(max(0.0, square))) for square in (of.interval()[0], of.value, of.interval()[1]))
    return Change(factor=name, times=value, interval=(low, high), beyond=beyond)


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))


def _cut_interval(bounds: Interval) -> Interval:
    return _cut(bounds[0]), _cut(bounds[1])


def _told(matrix: _Matrix, part: complete_matrix.Levels, why: str, spreads: Sequence[Spread]) -> Shares:
    cells = {(p, r, q) for p in part[0] for r in part[1] for q in part[2]} if part else set[Key]()
    gaps = [] if not part else [key for key in matrix.usable if key not in cells]
    left = [LeftOut(cell=matrix.at[key].id, stack=matrix.at[key].stack_label, gaps=_outside(key, part)) for key in gaps]
    return Shares(
        setting=matrix.setting,
        factors=tuple(
            Factor(name=name, levels=levels) for name, levels in zip(FACTORS, part, strict=False) if len(levels) > 1
        ),
        cells=len(cells),
        spreads=tuple(replace(spread, why_not=why) if why else spread for spread in spreads),
        medians=tuple(_medians(matrix, protocol, cells) for protocol in matrix.levels[0]),
        left_out=(*matrix.left_out, *left),
    )


def _outside(key: Key, part: complete_matrix.Levels) -> tuple[tuple[str, str], ...]:
    """The factors and levels by which a cell that could be compared is outside of the complete part."""
    return tuple((name, value) for name, value, levels in zip(FACTORS, key, part, strict=True) if value not in levels)


def _medians(matrix: _Matrix, protocol: str, counted: set[Key]) -> Medians:
    of = {key: cell for key, cell in matrix.at.items() if key[0] == protocol}
    responders = {key[1]: cell.responder for key, cell in reversed(of.items())}
    requesters = {key[2]: cell.client for key, cell in reversed(of.items())}
    across = [name for name in matrix.levels[1] if name in responders]
    down = [name for name in matrix.levels[2] if name in requesters]
    invalid = {
        left.cell for left in matrix.left_out if left.reason is not None and left.reason.kind is ReasonKind.INVALID
    }

    def entry(key: Key) -> Entry | None:
        if (cell := of.get(key)) is None:
            return None
        median = cell.distribution.median if cell.distribution else None
        return Entry(cell=cell.id, median=median, is_counted=key in counted, is_invalid=cell.id in invalid)

    return Medians(
        protocol=protocol,
        requesters=tuple((name, requesters[name]) for name in down),
        responders=tuple((name, responders[name]) for name in across),
        rows=tuple(tuple(entry((protocol, r, q)) for r in across) for q in down),
    )


def _find(basis: Basis) -> tuple[Shares, ...]:
    return shares(basis.plan, basis.summary.cells, basis.invalid)


QUESTION: Question[tuple[Shares, ...]] = Question(
    name="shares", type=tuple[Shares, ...], empty=(), find=_find, applies=is_no_search
)
