"""The sentence about several settings: the fastest in all of them, or where it turns; never a sentence for each setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from orchestrator import quantities
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.grid import Distances
from orchestrator.findings.ranking import Outcome, Ranking
from orchestrator.wording.one_setting import NO_DIFFERENCE, by_what
from orchestrator.wording.phrasing import MOST_LETTERS, capital, fitting, named, opened, scale_for, some
from orchestrator.wording.where import SUBJECT, Axis, axes, over, where
from services.python.contract.limits import Kind

_MOST_TURNS = 3  # stretches of an axis that a sentence holds
_MOST_LEVELS = 4
_VERBS: Mapping[Kind, str] = {
    "call": "answered",
    "task": "finished",
    "stream": "delivered events",
    "codec": "coded a message",
}


def sentence(rankings: Sequence[Ranking], distances: Distances, total: int) -> str:
    """Return the sentence; these of `total` settings could be compared."""
    everywhere = _over(rankings, distances)
    ways = _ways(rankings, axes(rankings, distances), max(0, total - len(rankings)))
    return everywhere + fitting(*ways, most=MOST_LETTERS - len(everywhere))


def _no_difference(names: Sequence[str]) -> str:
    return f"{NO_DIFFERENCE} between {some([name.removeprefix('with ') for name in names])}"


def _verb(ranking: Ranking) -> str:
    """What stacks did in this setting; where calls stand beside tasks, the word for tasks."""
    kinds = {ranking.cells[cell].kind for cell in ranking.names}
    return _VERBS[kinds.pop() if len(kinds) == 1 else "task"]


def _over(rankings: Sequence[Ranking], distances: Distances) -> str:
    """`By p99, over an emulated 35 ms: `: the statistic but for medians, and the distance of all of these settings."""
    texts = {over(distances, ranking.cells[ranking.reference]) for ranking in rankings}
    (text,) = texts if len(texts) == 1 else ("",)
    parts = [*filter(None, (by_what(rankings[0], "by "), text.strip()))]
    return f"{capital(', '.join(parts))}: " if parts else ""


def _ways(rankings: Sequence[Ranking], differing: Sequence[Axis], left_out: int) -> Iterator[str]:
    outcomes = [ranking.outcome for ranking in rankings]
    if len(set(outcomes)) == 1 and outcomes[0].kind != "none":
        yield from _alike(rankings, outcomes[0], differing, left_out)
        return
    missing = f"; {quantities.count(left_out, 'setting')} could not be compared" if left_out else ""
    if along := next((text for axis in differing if (text := _along(rankings, outcomes, axis))), ""):
        yield f"{along}{missing}."
    yield from (f"{text}." for text in _counted(rankings, outcomes, left_out))
    yield f"{_subjects(rankings)}Which {_verb(rankings[0])} fastest depends on the setting{missing}."


def _subjects(rankings: Sequence[Ranking]) -> str:
    """Of whom, where a factor is compared: `rest and grpc: `."""
    if rankings[0].factor == STACK:
        return ""
    return f"{some(list(dict.fromkeys(ranking.subject for ranking in rankings)), 3)}: "


def _than(rankings: Sequence[Ranking], winner: str) -> str:
    """`faster than rest`; of several others `fastest`."""
    others = {name for ranking in rankings for name in ranking.ranked} - {winner}
    return f"faster than {named(next(iter(others)))}" if len(others) == 1 else "fastest"


# ---- everywhere alike


def _alike(rankings: Sequence[Ranking], outcome: Outcome, differing: Sequence[Axis], left_out: int) -> Iterator[str]:
    everywhere = _everywhere(rankings, differing, left_out)
    names = [name for name in rankings[0].names.values() if name in outcome.names]
    if outcome.kind == "equal":
        yield f"{_subjects(rankings)}{some(names)} are equal{everywhere}, within {quantities.margin(rankings[0].matters)}."
        return
    if outcome.kind == "open":
        yield f"{opened(_subjects(rankings), _no_difference(names))}{everywhere}."
        return
    lead = f"{_fastest(rankings, names[0])}{everywhere}"
    gaps = sorted(
        ((gap, ranking) for ranking in rankings if (gap := ranking.lead) is not None), key=lambda pair: pair[0]
    )
    if gaps and (low := gaps[0]) and (high := gaps[-1]):
        scale = scale_for([low[0], high[0]])
        if scale.text(low[0]) == scale.text(high[0]):
            yield f"{lead}: by {scale.text(low[0])}."
        ends = [f"{scale.text(gap)} ({place})" for gap, ranking in (low, high) if (place := where(ranking, differing))]
        if ends:
            yield f"{lead}: by {' to '.join(ends)}."
        yield f"{lead}: by {scale.span((low[0], high[0]))}."
    yield f"{lead}."


def _everywhere(rankings: Sequence[Ranking], differing: Sequence[Axis], left_out: int) -> str:
    """` in all 4 settings`; nothing where only the stack differs besides the factor, as all of them were named."""
    if left_out:
        return f" in {_compared(rankings, left_out)}"
    if [axis.name for axis in differing] == [SUBJECT]:
        return ""
    return " in both settings" if len(rankings) == 2 else f" in all {len(rankings)} settings"


def _compared(rankings: Sequence[Ranking], left_out: int) -> str:
    """`the 2 of 3 settings that could be compared`."""
    return f"the {len(rankings)} of {len(rankings) + left_out} settings that could be compared"


def _fastest(rankings: Sequence[Ranking], winner: str) -> str:
    """`grpc answered faster than rest`; of a factor `With gzip, rest answered faster than with no compression`."""
    did = f"{_verb(rankings[0])} {_than(rankings, winner)}"
    if rankings[0].factor == STACK:
        return f"{named(winner)} {did}"
    subjects = list(dict.fromkeys(ranking.subject for ranking in rankings))
    if len(subjects) == 1:
        return f"{capital(named(winner))}, {named(subjects[0])} {did}"
    return f"{capital(named(winner))} {'both' if len(subjects) == 2 else f'all {len(subjects)}'} stacks {did}"


# ---- where it turns


def _along(rankings: Sequence[Ranking], outcomes: Sequence[Outcome], axis: Axis) -> str:
    """How the outcome follows this axis alone; empty where it does not, or turns too often to be read."""
    by_value: dict[Value, set[Outcome]] = {}
    for ranking, outcome in zip(rankings, outcomes, strict=True):
        by_value.setdefault(axis.value(ranking), set()).add(outcome)
    if len(by_value) < 2 or any(len(several) > 1 for several in by_value.values()):
        return ""
    firsts = {axis.value(ranking): ranking for ranking in reversed(rankings)}
    pairs = [(firsts[value], next(iter(by_value[value]))) for value in by_value]
    if all(axis.number(ranking) is not None for ranking, _ in pairs):
        pairs.sort(key=lambda pair: axis.number(pair[0]) or 0.0)
        return _ordered(rankings, pairs, axis)
    if len(pairs) > _MOST_LEVELS:
        return ""
    clauses = [
        f"{quantities.listed([axis.at(ranking) for ranking, own in pairs if own == outcome])} {_clause(rankings, outcome)}"
        for outcome in dict.fromkeys(outcome for _, outcome in pairs)
    ]
    return capital("; ".join(clauses))


def _ordered(rankings: Sequence[Ranking], pairs: Sequence[tuple[Ranking, Outcome]], axis: Axis) -> str:
    stretches = [
        (outcome, [ranking for ranking, _ in group]) for outcome, group in groupby(pairs, key=lambda pair: pair[1])
    ]
    if len(stretches) > _MOST_TURNS:
        return ""
    clauses = []
    for place, (outcome, stretch) in enumerate(stretches):
        is_last = place == len(stretches) - 1
        if len(stretch) == 1 and not is_last:
            at = axis.at(stretch[0])
        elif place == 0:
            at = f"up to {axis.plainly(stretch[-1])}"
        elif is_last:
            at = f"from {axis.plainly(stretch[0])} on"
        else:
            at = f"from {axis.plainly(stretch[0])} to {axis.plainly(stretch[-1])}"
        clauses.append(f"{at} {_clause(rankings, outcome)}")
    return f"{_subjects(rankings)}{capital(', '.join(clauses))}"


def _clause(rankings: Sequence[Ranking], outcome: Outcome) -> str:
    """`grpc answered faster than rest`, `grpc and rest are equal within 5 %`, `nothing could be compared`."""
    names = sorted(outcome.names)
    if outcome.kind == "fastest":
        than = _than(rankings, names[0])
        if rankings[0].factor == STACK:
            return f"{named(names[0])} {_verb(rankings[0])} {than}"
        return f"it was {'fastest' if than == 'fastest' else 'faster'} {named(names[0])}"
    if outcome.kind == "none":
        return "nothing could be compared"
    if outcome.kind == "equal":
        return f"{some(names)} are equal within {quantities.margin(rankings[0].matters)}"
    return f"there is {_no_difference(names)}"


# ---- counted


def _counted(rankings: Sequence[Ranking], outcomes: Sequence[Outcome], left_out: int) -> Iterator[str]:
    total = len(rankings)
    settings = _compared(rankings, left_out) if left_out else str(total)
    counts = Counter(outcome for outcome in outcomes if outcome.kind == "fastest").most_common()
    equal = sum(outcome.kind == "equal" for outcome in outcomes)
    rest = total - equal - sum(number for _, number in counts)
    others = [f"in {equal} the fastest are equal"] if equal else []
    others += [f"in {rest} there is no significant difference between the fastest"] if rest else []
    lead = _subjects(rankings)
    if not counts:
        every = settings if left_out else f"{settings} settings"
        if not equal:
            yield opened(lead, f"no significant difference between the fastest in any of {every}")
            return
        yield f"{lead}None {_verb(rankings[0])} fastest: of {every}, {quantities.listed(others)}"
        return
    clauses = [f"{named(next(iter(outcome.names)))} in {number}" for outcome, number in counts]
    for most in (4, 2, 1):
        more = [f"others in {sum(number for _, number in counts[most:])}"] if counts[most:] else []
        shown = "; ".join((quantities.listed([*clauses[:most], *more]), *others))
        yield f"{lead}Which {_verb(rankings[0])} fastest depends on the setting: of {settings}, {shown}"
