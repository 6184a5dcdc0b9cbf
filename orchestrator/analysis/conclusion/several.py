"""The first sentence about several settings: one winner, or where it turns; never a sentence for each setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from orchestrator.analysis import words
from orchestrator.analysis.conclusion import first
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.conclusion.places import SUBJECT, Axis, Distances, axes, where
from orchestrator.analysis.conclusion.plain import MOST_LETTERS, behind, capital, fitting, named, scale_for, some
from orchestrator.analysis.leading import any_of
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import STACK

_MOST_TURNS = 3  # stretches of an axis that a sentence holds
_MOST_LEVELS = 4

Kind = Literal["one", "equal", "open", "none"]


@dataclass(frozen=True)
class Outcome:
    """Who is ahead in a setting: one, or several that are equal or cannot be told apart; `none` where nothing compares."""

    kind: Kind
    names: frozenset[str] = frozenset()


def outcome(arena: Arena) -> Outcome:
    """Of one setting."""
    if not arena.tiers:
        return Outcome("none")
    ahead = arena.tiers[0]
    names = frozenset(arena.names[cell] for cell in ahead.cells)
    if len(ahead.cells) == 1:
        return Outcome("one", names)
    return Outcome("equal" if ahead.alike else "open", names)


def sentence(found: Sequence[Arena], distances: Distances, most: int = MOST_LETTERS, *, of: int = 0) -> str:
    """The sentence, of so many letters at most; at least one of these settings could be compared, `of` were asked about."""
    over = _over(found, distances)
    left_out = max(0, of - len(found))
    return behind(over, fitting(*_ways(found, axes(found, distances), left_out), most=most - len(over)))


def _over(found: Sequence[Arena], distances: Distances) -> str:
    """`Over an emulated 35 ms: `, where all of these settings are as far; else empty."""
    overs = {distances.over(arena.cells[arena.reference]) for arena in found}
    (over,) = overs if len(overs) == 1 else ("",)
    return f"{capital(over.strip())}: " if over else ""


def _ways(found: Sequence[Arena], differing: Sequence[Axis], left_out: int) -> Iterator[str]:
    """The ways to say it, the most telling first."""
    outcomes = [outcome(arena) for arena in found]
    if len(set(outcomes)) == 1 and outcomes[0].kind != "none":
        yield from _alike(found, outcomes[0], differing, left_out)
        return
    for axis in differing:
        if said := _along(found, outcomes, axis):
            yield from (f"{text.removesuffix('.')}{_untold(left_out)}." for text in said)
            break
    yield from _counted(found, outcomes, left_out)


# ---- everywhere alike


def _alike(found: Sequence[Arena], of: Outcome, differing: Sequence[Axis], left_out: int) -> Iterator[str]:
    everywhere = _everywhere(found, differing, left_out)
    if of.kind != "one":
        names = some(_in_order(found[0], of.names))
        if of.kind == "equal":
            yield f"{_with(found)}{names} are equal{everywhere}, within {words.margin(found[0].matters)}."
        else:
            verb = first.verb(found[0])
            who = f"which of {names} {verb.did} {verb.most}"
            if found[0].factor != STACK:
                who = f"whether {_subjects(found)} {verb.did} {verb.most} {any_of(_in_order(found[0], of.names))}"
            yield f"This run cannot tell {who}{everywhere}."
        return
    (winner,) = of.names
    lead = _lead(found, winner)
    gaps = sorted(
        (
            (gap, arena)
            for arena in found
            if len(arena.tiers) > 1 and (gap := arena.gap(arena.tiers[0].cells[0], arena.tiers[1].cells[0])) is not None
        ),
        key=lambda pair: pair[0],
    )
    lead = f"{lead}{everywhere}"
    if gaps and (low := gaps[0]) and (high := gaps[-1]):
        scale = scale_for([low[0], high[0]])
        if scale.text(low[0]) == scale.text(high[0]):
            yield f"{lead}: by {scale.text(low[0])}."
        elif [axis.name for axis in differing] == [SUBJECT] and len(gaps) == 2:
            yield f"{lead}: {'; '.join(f'{named(arena.subject)} by {scale.text(gap)}' for gap, arena in gaps)}."
        ends = [f"{scale.text(gap)} ({place})" for gap, arena in (low, high) if (place := where(arena, differing))]
        if ends:
            yield f"{lead}: by {' to '.join(ends)}."
        yield f"{lead}: by {scale.span((low[0], high[0]))}."
    yield f"{lead}."


def _everywhere(found: Sequence[Arena], differing: Sequence[Axis], left_out: int) -> str:
    """` in all 4 settings`; nothing where only the stack differs besides the factor, as all of them were named."""
    if left_out:
        return f" in {_compared(found, left_out)}"
    if [axis.name for axis in differing] == [SUBJECT]:
        return ""
    return " in both settings" if len(found) == 2 else f" in all {len(found)} settings"


def _untold(left_out: int) -> str:
    """`; 2 settings could not be compared`, to stand behind what names settings one by one."""
    return f"; {words.count(left_out, 'setting')} could not be compared" if left_out else ""


def _compared(found: Sequence[Arena], left_out: int) -> str:
    """`the 2 of 3 settings that could be compared`."""
    return f"the {len(found)} of {len(found) + left_out} settings that could be compared"


def _with(found: Sequence[Arena]) -> str:
    """Of whom, where a factor is compared: `rest and grpc: `."""
    return f"{_subjects(found)}: " if found[0].factor != STACK else ""


def _subjects(found: Sequence[Arena]) -> str:
    return some(list(dict.fromkeys(arena.subject for arena in found)), 3)


def _lead(found: Sequence[Arena], winner: str) -> str:
    """`grpc answered sooner than rest`; of several `grpc answered soonest`; of a factor `with gzip rest answered ...`."""
    verb = first.verb(found[0])
    others = {name for arena in found for name in arena.told} - {winner}
    than = f"{verb.more} than {named(next(iter(others)))}" if len(others) == 1 else verb.most
    if found[0].factor == STACK:
        return f"{named(winner)} {verb.did} {than}"
    subjects = list(dict.fromkeys(arena.subject for arena in found))
    if len(subjects) == 1:
        return f"{capital(named(winner))}, {named(subjects[0])} {verb.did} {than}"
    who = "both stacks" if len(subjects) == 2 else f"all {len(subjects)} stacks"
    return f"{capital(named(winner))} {who} {verb.did} {than}"


def _in_order(arena: Arena, names: frozenset[str]) -> list[str]:
    return [name for name in arena.names.values() if name in names]


# ---- where it turns


def _along(found: Sequence[Arena], outcomes: Sequence[Outcome], axis: Axis) -> list[str]:
    """How the outcome follows this axis alone; nothing where it does not, or turns too often to be read."""
    by_value: dict[Value, set[Outcome]] = {}
    for arena, of in zip(found, outcomes, strict=True):
        by_value.setdefault(axis.value(arena), set()).add(of)
    if len(by_value) < 2 or any(len(of) > 1 for of in by_value.values()):
        return []
    firsts = {axis.value(arena): arena for arena in reversed(found)}
    pairs = [(firsts[value], next(iter(by_value[value]))) for value in by_value]
    numbers = [axis.number(arena) for arena, _ in pairs]
    if all(number is not None for number in numbers):
        pairs.sort(key=lambda pair: axis.number(pair[0]) or 0.0)
        return _ordered(found, pairs, axis)
    if len(pairs) > _MOST_LEVELS:
        return []
    clauses = [
        f"{words.listed([axis.at(arena) for arena, _ in of])} {_clause(found, outcome_)}"
        for outcome_, of in _by_outcome(pairs)
    ]
    return [f"{capital('; '.join(clauses))}."]


def _by_outcome(pairs: Sequence[tuple[Arena, Outcome]]) -> Iterator[tuple[Outcome, list[tuple[Arena, Outcome]]]]:
    for of in dict.fromkeys(outcome_ for _, outcome_ in pairs):
        yield of, [pair for pair in pairs if pair[1] == of]


def _ordered(found: Sequence[Arena], pairs: Sequence[tuple[Arena, Outcome]], axis: Axis) -> list[str]:
    stretches = [(of, [arena for arena, _ in group]) for of, group in groupby(pairs, key=lambda pair: pair[1])]
    if len(stretches) > _MOST_TURNS:
        return []
    clauses = []
    for place, (of, arenas) in enumerate(stretches):
        if len(arenas) == 1 and 0 < place < len(stretches) - 1:
            at = axis.at(arenas[0])
        elif place == 0:
            at = axis.at(arenas[0]) if len(arenas) == 1 else f"up to {axis.plainly(arenas[-1])}"
        elif place == len(stretches) - 1:
            at = f"from {axis.plainly(arenas[0])} on"
        else:
            at = f"from {axis.plainly(arenas[0])} to {axis.plainly(arenas[-1])}"
        clauses.append(f"{at} {_clause(found, of)}")
    return [f"{_with(found)}{capital(', '.join(clauses))}."]


def _clause(found: Sequence[Arena], of: Outcome) -> str:
    """`grpc answered sooner than rest`, `grpc and rest are equal`, `nothing can be told`."""
    verb = first.verb(found[0])
    if of.kind == "one":
        (winner,) = of.names
        others = {name for arena in found for name in arena.told} - {winner}
        than = f"{verb.more} than {named(next(iter(others)))}" if len(others) == 1 else verb.most
        if found[0].factor == STACK:
            return f"{named(winner)} {verb.did} {than}"
        return f"it was {verb.more if len(others) == 1 else verb.most} {named(winner)}"
    if of.kind == "none":
        return "nothing could be compared"
    names = some(sorted(of.names))
    if of.kind == "equal":
        return f"{names} are equal{f' within {words.margin(found[0].matters)}'}"
    return f"{names} cannot be told apart"


# ---- counted


def _counted(found: Sequence[Arena], outcomes: Sequence[Outcome], left_out: int) -> Iterator[str]:
    """In how many settings who is ahead, most first."""
    verb, total = first.verb(found[0]), len(found)
    settings = _compared(found, left_out) if left_out else f"{total} settings"
    of_all = _compared(found, left_out) if left_out else str(total)
    counts = Counter(of for of in outcomes if of.kind == "one").most_common()
    equal = sum(of.kind == "equal" for of in outcomes)
    rest = total - equal - sum(number for _, number in counts)
    than = verb.more if all(len(arena.told) <= 2 for arena in found) else verb.most
    clauses = [f"{named(next(iter(of.names)))} in {number}" for of, number in counts]
    besides = [f"in {equal} the first are equal"] if equal else []
    besides += [f"in {rest} it cannot be told"] if rest else []
    factor = _with(found)
    if not clauses:
        nobody = f"Nobody {verb.did} {than} in any of {settings}" if equal else ""
        told = f"{nobody}: {words.listed(besides)}" if nobody else ""
        yield f"{factor}{told or f'This run cannot tell who {verb.did} {than} in any of {settings}'}."
        return
    for most in (4, 2, 1):
        shown = words.listed(
            [*clauses[:most], *([f"others in {sum(n for _, n in counts[most:])}"] if clauses[most:] else [])]
        )
        behind = "".join(f"; {text}" for text in besides)
        yield f"{factor}Who {verb.did} {than} depends on the setting: of {of_all}, {shown}{behind}."
    yield f"{factor}Who {verb.did} {than} depends on the setting{_untold(left_out)}."
