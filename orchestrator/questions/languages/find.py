"""Whether the language of an end matters more than the protocol: how far a change of each goes.

In every setting a complete part of the matrix of protocols and languages is decomposed (`estimates`), by the blocks in
which all of its cells have a median. The stack that the experiment names first for a language represents it. Whether a
change of language goes further than one of the protocol is corrected over the run.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import exp, log, prod, sqrt
from typing import Literal, get_args

import numpy as np

from orchestrator.experiment.model.factors import CALLS, OWN_DRIVERS
from orchestrator.experiment.plan.parts import languages_of_stacks
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.block_values import by_block, moved, why_no_value
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Question, is_no_search
from orchestrator.questions.languages.estimates import Decomposition, Estimate, decompose
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval

FactorName = Literal["protocol", "responder", "requester"]
Standing = Literal["more", "less", "not resolved"]
Key = tuple[str, str, str]
"""A place in the matrix: protocol, responder's language, requester's language."""

FACTORS: tuple[FactorName, ...] = get_args(FactorName)


@dataclass(frozen=True, kw_only=True)
class Change:
    """The root mean square ratio between two levels of a factor, whatever the others.

    `beyond`: of a language, whether its change goes further than one of the protocol (Holm over the run); None where not
    both vary.
    """

    factor: FactorName
    times: float
    interval: Interval
    beyond: Standing | None = None


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """One setting's matrix of protocols and languages.

    `factors` has the levels of those that vary in its complete part.
    `left_out`: labels of stacks outside of the complete part.
    """

    setting: str
    factors: dict[FactorName, tuple[str, ...]]
    cells: int
    blocks: int = 0
    changes: tuple[Change, ...] = ()
    left_out: tuple[str, ...] = ()


def matrices(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]) -> tuple[Matrix, ...]:
    """Return the changes of each setting in which languages and another factor vary, and medians lie apart.

    `invalid` by a cell's id. Settings without a complete part, or with few blocks, are left out.
    """
    decomposed = [known for setting in _settings(plan, cells, invalid) if (known := _decomposed(*setting)) is not None]
    beyond = standings(
        {
            (place, name): parts.beyond(number, 0)
            for place, (matrix, parts) in enumerate(decomposed)
            for number, name in enumerate(matrix.factors)
            if name != "protocol" and "protocol" in matrix.factors
        }
    )
    return tuple(
        replace(
            matrix,
            changes=tuple(
                _change(name, estimate, beyond.get((place, name)))
                for name, estimate in zip(matrix.factors, parts.changes, strict=True)
            ),
        )
        for place, (matrix, parts) in enumerate(decomposed)
    )


def _change(name: FactorName, estimate: Estimate, beyond: Standing | None) -> Change:
    squares = (estimate.value, *estimate.interval())
    times, low, high = (exp(sqrt(max(0.0, square))) for square in squares)
    return Change(factor=name, times=times, interval=(low, high), beyond=beyond)


def _settings(
    plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]
) -> list[tuple[str, dict[Key, CellSummary], list[str]]]:
    """Each setting in which a language and something else varies, its usable cells, and the labels of all its stacks."""
    known = languages_of_stacks(plan)
    stacks = {stack.id for stack in plan.stacks if stack.control_of is None}
    planned = {cell.id: cell for cell in plan.cells}
    groups: dict[tuple[object, ...], dict[Key, CellSummary]] = {}
    labels: dict[tuple[object, ...], dict[str, None]] = {}
    for cell in cells:
        if cell.stack in stacks and cell.kind in ("call", "task"):
            # A responder's usual library for PostgreSQL comes with its language, as where stacks are compared.
            call = tuple(None if value in OWN_DRIVERS else value for value in cell.call)
            load = planned[cell.id].load
            setting: tuple[object, ...] = (cell.operation, cell.placement, load, cell.factors[CALLS], call)
            labels.setdefault(setting, {})[cell.labels.stack] = None
            if ends := known.get(cell.stack):
                groups.setdefault(setting, {}).setdefault((cell.protocol, *ends), cell)
    settings = []
    for setting, by_key in groups.items():
        varies = [len({key[place] for key in by_key}) > 1 for place in range(len(FACTORS))]
        if sum(varies) > 1 and any(varies[1:]):
            most = max(len(by_block(cell.trials, "median")) for cell in by_key.values())
            fewest = max(1, min(most, FEWEST_BLOCKS))
            usable = {
                key: cell
                for key, cell in by_key.items()
                if cell.id not in invalid and len(by_block(cell.trials, "median")) >= fewest
                if why_no_value(cell, "median") is None and moved(cell, "median", plan.matters) is None
            }
            settings.append((next(iter(by_key.values())).setting, usable, list(labels[setting])))
    return settings


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


def _decomposed(
    setting: str, usable: Mapping[Key, CellSummary], stacks: Sequence[str]
) -> tuple[Matrix, Decomposition] | None:
    """The medians of a complete part of a matrix; None where there is none, where blocks are few, or nothing lies apart."""
    part = complete_part(list(usable)) if usable else ()
    factors = {name: levels for name, levels in zip(FACTORS, part, strict=False) if len(levels) > 1}
    if len(factors) < 2:
        return None
    kept = [usable[protocol, responder, requester] for protocol, responder, requester in product(*part)]
    medians = [by_block(cell.trials, "median") for cell in kept]
    blocks = sorted(set.intersection(*(set(values) for values in medians)))
    labels = {cell.labels.stack for cell in kept}
    matrix = Matrix(
        setting=setting,
        factors=factors,
        cells=prod(map(len, part)),
        blocks=len(blocks),
        left_out=tuple(label for label in stacks if label not in labels),
    )
    logs = np.array([[log(values[block]) for values in medians] for block in blocks])
    parts = decompose(logs.reshape(len(blocks), *map(len, factors.values())))
    return None if parts is None or parts.variance.interval()[0] <= 0 else (matrix, parts)


def standings(contrasts: Mapping[tuple[int, FactorName], Estimate]) -> dict[tuple[int, FactorName], Standing]:
    """Return whether each contrast is more than nothing, less, or not resolved, corrected over all of them."""
    levels = intervals.holm_levels([contrast.p_value for contrast in contrasts.values()])
    resolved: dict[tuple[int, FactorName], Standing] = {}
    for (key, contrast), level in zip(contrasts.items(), levels, strict=True):
        low, high = contrast.interval(level)
        resolved[key] = "more" if low > 0 else "less" if high < 0 else "not resolved"
    return resolved


QUESTION: Question[tuple[Matrix, ...]] = Question(
    name="languages",
    type=tuple[Matrix, ...],
    empty=(),
    find=lambda basis: matrices(basis.plan, basis.summary.cells, basis.invalid),
    applies=is_no_search,
)
