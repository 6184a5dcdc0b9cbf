"""What explains more than what was asked about: a new connection for each request, a framework, an end that is the limit.

With its figure where the run measured it; where it did not, only as not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from orchestrator.analysis import words
from orchestrator.analysis.cells import by_block
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.conclusion.plain import named, some
from orchestrator.analysis.equivalence import is_within
from orchestrator.analysis.intervals import FEWEST_BLOCKS, LogMean, holm_levels, log_mean
from orchestrator.analysis.summary import CellSummary, Interval, RunSummary
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, STACK
from orchestrator.experiment.plan.contrasts import PROTOCOL
from orchestrator.experiment.plan.documents import AS_VALUE, DOCUMENT, WORDS
from orchestrator.experiment.plan.documents import sentence as how_documents_travel
from orchestrator.questions.saturation.find import limit_of, mean_of, responder_cpu

OF_THE_MEASUREMENT = ("processes", "requesters", "read_rate", "timing_rules")  # nothing that a service chooses
_CHOICES = (*(f.name for f in OF_THE_CALL if f.name not in OF_THE_MEASUREMENT), "responder", "client")
_PART_OF = {"responder": ("framework", "validation"), "client": ("client",), "connection": ("connection",)}
_CALLED = {"reading": "which fields are read", "connection": "how connections are kept"}


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
    """Of every two cells that differ in one choice alone and have blocks enough; not by the factor `but`."""
    found: list[tuple[Effect, LogMean]] = []
    for name in _CHOICES:
        if name == but or name not in BY_NAME:
            continue
        alike: dict[tuple[object, ...], list[CellSummary]] = {}
        for cell in cells:
            if cell.factors.get(name) is not None:
                alike.setdefault(_apart_from(name, cell), []).append(cell)
        for members in alike.values():
            for number, one in enumerate(members):
                found += [of for other in members[number + 1 :] if (of := _effect(name, one, other))]
    levels = holm_levels([1.0 if of.p_value is None else of.p_value for _, of in found])
    return [
        replace(effect, is_sure=_is_sure(of.interval(level), matters))
        for (effect, of), level in zip(found, levels, strict=True)
    ]


def _is_sure(interval: Interval | None, matters: float) -> bool:
    return interval is not None and not interval[0] <= 1 <= interval[1] and not is_within(interval, matters)


def _apart_from(name: str, cell: CellSummary) -> tuple[object, ...]:
    free = (name, *BY_NAME[name].varies_with)
    factors = tuple((key, value) for key, value in sorted(cell.factors.items()) if key not in free)
    stack = None if BY_NAME[name].belongs_to == "stack" else cell.stack
    return (cell.operation_id, cell.placement_id, cell.load, cell.kind, stack, factors)


def _effect(name: str, one: CellSummary, other: CellSummary) -> tuple[Effect, LogMean] | None:
    if one.distribution is None or other.distribution is None or one.factors[name] == other.factors[name]:
        return None
    first, second = one.distribution.median, other.distribution.median
    mine, theirs = by_block(one.trials, "median"), by_block(other.trials, "median")
    shared = sorted(mine.keys() & theirs.keys())
    if first is None or second is None or len(shared) < FEWEST_BLOCKS:
        return None
    result = log_mean([log(mine[block] / theirs[block]) for block in shared])
    better, worse = (one, other) if first < second else (other, one)
    effect = Effect(
        factor=name,
        stack=better.stack_label,
        better=better.factors[name],
        worse=worse.factors[name],
        gap=abs(first - second),
        place=(one.operation_id, one.placement_id),
    )
    return effect, result


def greatest(found: Sequence[Effect], arenas: Sequence[Arena]) -> tuple[Effect, float] | None:
    """The effect that is larger than any difference asked about, where it was seen, and the largest such difference."""
    best: tuple[Effect, float] | None = None
    for of in found:
        if not of.is_sure:
            continue
        gaps = [
            gap
            for arena in arenas
            if (c := arena.cells[arena.reference]) and (c.operation_id, c.placement_id) == of.place and arena.tiers
            for gap in [_widest(arena)]
            if gap is not None
        ]
        if gaps and of.gap > max(gaps) and (best is None or of.gap > best[0].gap):
            best = of, max(gaps)
    return best


def _widest(arena: Arena) -> float | None:
    return arena.gap(arena.tiers[0].cells[0], arena.tiers[-1].cells[-1])


def advice(of: Effect, least: float, factor: str) -> str:
    """What to see to first, with both figures."""
    what = "the choice between stacks" if factor == STACK else f"the {BY_NAME[factor].title}"
    if of.factor == "connection" and of.better == "reuse":
        return (
            f"Keep connections open first: that is worth {words.ms(of.gap)} a call, {what} at most {words.ms(least)}."
        )
    choice = BY_NAME[of.factor]
    return (
        f"The {choice.title} decides more: {choice.briefly(of.better)} rather than {choice.briefly(of.worse)} makes "
        f"{words.ms(of.gap)} with {named(of.stack)}, {what} at most {words.ms(least)}."
    )


def unmeasured(summary: RunSummary, arenas: Sequence[Arena], seen: Sequence[Effect]) -> list[str]:
    """Which parts differ besides the protocol, or stand in every figure, and what they make was not measured here."""
    measured = {part for of in seen for part in _PART_OF.get(of.factor, ())}
    parts = dict.fromkeys(
        part
        for arena in arenas
        if arena.factor == STACK
        for member in arena.members
        for part in (*member.differs_in, *member.may_differ_in)
        if part not in PROTOCOL and part not in measured
    )
    found = [_CALLED.get(part, f"the {part}") for part in parts]
    documents = {cell.factors.get(DOCUMENT) for cell in summary.cells}
    if len(documents) == 1 and WORDS[AS_VALUE] in how_documents_travel(summary.plan or {}):
        found.append("google.protobuf.Value for its JSON")
    return found


def limits(cells: Mapping[str, CellSummary], arenas: Sequence[Arena]) -> str:
    """Which stacks have an end that is the limit at their load, as a clause; empty where none has."""
    found: dict[str, list[str]] = {}
    for cell_id in dict.fromkeys(name for arena in arenas for name in arena.names):
        cell = cells[cell_id]
        is_loaded = cell.kind == "call" and (int(cell.factors.get("concurrency") or 1) > 1 or cell.factors.get("rate"))
        if not is_loaded or not cell.trials:
            continue
        limit = limit_of(
            mean_of(responder_cpu(trial) for trial in cell.trials), mean_of(trial.cpu_share for trial in cell.trials)
        )
        if limit in ("responder", "requester", "both"):
            found.setdefault("one of the ends" if limit == "both" else f"the {limit}", []).append(cell.stack_label)
    return words.listed([f"{end} is the limit of {some(list(dict.fromkeys(of)), 3)}" for end, of in found.items()])
