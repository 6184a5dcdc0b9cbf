"""What holds over several groups of cells: who is faster in how many of them, and what distance does to the lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis import words
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, Standing
from orchestrator.experiment.model.factors import OF_THE_CALL, PIN, phrases, short

Cells = Mapping[str, CellSummary]

_MOST_SERIES = 2
_MOST_LEVELS = 4
_OUTCOMES: dict[Standing, str] = {
    "faster": "faster",
    "slower": "slower",
    "tie": "a tie",
    "not resolved": "not resolved",
    "cannot tell": "cannot tell",
}
_REVERSED: dict[Standing, Standing] = {"faster": "slower", "slower": "faster"}


def overview(comparisons: Sequence[Comparison], cells: Cells) -> str:
    """Sum up comparisons of medians; nothing with fewer than two groups, or where no group tells who is faster."""
    groups = {comparison.group for comparison in comparisons}
    if len(groups) < 2 or not any(c.standing in ("faster", "slower") for c in comparisons):
        return ""
    by_stack: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_stack.setdefault(comparison.stack, []).append(comparison)
    stacks = list(by_stack.values())
    in_how_many = _pair(stacks[0], cells) if len(stacks) == 1 else _several(stacks, len(groups), cells)
    return " ".join([in_how_many, *_over_distance(comparisons, cells)])


def _pair(members: Sequence[Comparison], cells: Cells) -> str:
    """Of two stacks, the one that is faster more often is the subject."""
    counts = Counter(member.standing for member in members)
    stack, reference = members[0].stack_label, members[0].reference_label
    if counts["slower"] > counts["faster"]:
        stack, reference = reference, stack
        members = [replace(m, standing=_REVERSED.get(m.standing, m.standing)) for m in members]
        counts = Counter(member.standing for member in members)
    if decided := _decided(members, cells):
        return f"{stack} against {reference}: {decided}."
    rest = [f"{word} in {counts[s]}" for s, word in _OUTCOMES.items() if s != "faster" and counts[s]]
    return f"{stack} is faster than {reference} in {', '.join([_of(counts['faster'], len(members)), *rest])}."


def _of(count: int, total: int) -> str:
    if count < total:
        return f"{count} of {total} settings"
    return "both settings" if total == 2 else f"all {total} settings"


def _several(stacks: Sequence[Sequence[Comparison]], settings: int, cells: Cells) -> str:
    """A clause for each outcome; stacks that fared alike share one, those with the most wins come first."""
    alike: dict[str, list[Sequence[Comparison]]] = {}
    for members in sorted(stacks, key=_fared):
        alike.setdefault(_outcome(members, cells), []).append(members)
    clauses = [
        f"{words.listed([members[0].stack_label for members in found])}: {outcome}" for outcome, found in alike.items()
    ]
    return f"Against {stacks[0][0].reference_label}, over {settings} settings: {'; '.join(clauses)}."


def _fared(members: Sequence[Comparison]) -> tuple[int, ...]:
    counts = Counter(member.standing for member in members)
    return tuple(-counts[standing] for standing in _OUTCOMES)


def _outcome(members: Sequence[Comparison], cells: Cells) -> str:
    counts = Counter(member.standing for member in members)
    total = len(members)
    parts = [(word, counts[standing]) for standing, word in _OUTCOMES.items() if counts[standing]]
    if total == 1:
        return f"{parts[0][0]} in its only setting"
    if len(parts) == 1:
        return f"{parts[0][0]} in {'both' if total == 2 else f'all {total}'}"
    first = f"{parts[0][0]} in {parts[0][1]} of {total}"
    return _decided(members, cells) or ", ".join([first, *(f"{word} in {count}" for word, count in parts[1:])])


# ---- a factor that decides


def _call(comparison: Comparison, cells: Cells) -> str:
    mine, theirs = cells[comparison.cell], cells[comparison.reference_cell]
    if mine.call == theirs.call:
        return f"with {words.listed(phrases(mine.factors))}"
    each = [f"{c.stack_label} with {words.listed(phrases(c.factors))}" for c in (mine, theirs)]
    return " and ".join(each)


def _own_call(members: Sequence[Comparison], cells: Cells) -> Callable[[Comparison, Cells], str]:
    """How a cell's requests are made, where all are compared with one: only what differs between them."""
    if len({member.reference_cell for member in members}) > 1:
        return _call
    of = [cells[member.cell].factors for member in members]
    differing = [f for f in OF_THE_CALL if len({values.get(f.name, f.default) for values in of}) > 1]

    def called(comparison: Comparison, cells: Cells) -> str:
        values = cells[comparison.cell].factors
        return f"with {words.listed([f.level(values.get(f.name, f.default)).words for f in differing])}"

    return called


_FACTORS: tuple[Callable[[Comparison, Cells], str], ...] = (
    lambda comparison, cells: f"on placement {cells[comparison.cell].placement}",
    lambda comparison, cells: f"for {cells[comparison.cell].operation}",
    lambda comparison, cells: f"with a load of {cells[comparison.cell].load}",
)


def _decided(members: Sequence[Comparison], cells: Cells) -> str:
    """Where the outcome differs between the levels of one factor and is the same within each: which level gives what.

    Empty where no single factor decides, or where it has so many levels that nobody would read the list.
    """
    for factor in (_own_call(members, cells), *_FACTORS):
        levels: dict[str, list[Comparison]] = {}
        for member in members:
            levels.setdefault(factor(member, cells), []).append(member)
        outcomes = {level: {m.standing for m in found} for level, found in levels.items()}
        differ = len(set().union(*outcomes.values())) > 1 and len(levels) <= _MOST_LEVELS
        if differ and all(len(found) == 1 for found in outcomes.values()):
            by_outcome: dict[str, list[str]] = {}
            for standing, word in _OUTCOMES.items():
                for level, found in outcomes.items():
                    if standing in found:
                        by_outcome.setdefault(word, []).append(f"{level}{_how_many(len(levels[level]))}")
            return ", ".join(f"{word} {words.listed(names)}" for word, names in by_outcome.items())
    return ""


def _how_many(count: int) -> str:
    return "" if count == 1 else f" ({'both' if count == 2 else f'all {count}'} settings)"


# ---- distance


@dataclass(frozen=True, kw_only=True)
class _Lead:
    """How much less time the faster one of a pair takes, as a share with its interval, and at which distance."""

    winner: str
    label: str
    loser: str
    placement: str
    distance: float
    share: float
    interval: Interval
    floor_share: float | None

    def in_words(self, what: str = "") -> str:
        """The share, of what, with its interval, and where."""
        low, high = (words.percent(bound) for bound in self.interval)
        return f"{words.percent(self.share)}{what} ({low} to {high}) at {self.placement}"


def _over_distance(comparisons: Sequence[Comparison], cells: Cells) -> Iterator[str]:
    """For each operation and way to call, the lead at the shortest distance and what is left of it at the longest.

    A lead shrinks or grows where the two intervals have nothing in common; else it is only said what it becomes.
    """
    series: dict[tuple[str, ...], list[Comparison]] = {}
    for comparison in comparisons:
        mine, reference = cells[comparison.cell], cells[comparison.reference_cell]
        if mine.ping_floor is not None:
            calls = (", ".join(short(cell.factors)) for cell in (mine, reference))
            key = (mine.operation, comparison.stack, *calls, mine.load)
            series.setdefault(key, []).append(comparison)
    loads = {key[-1] for key in series}
    said = 0
    for operation, stack, *rest in sorted(series, key=_in_order(series)):
        members = series[(operation, stack, *rest)]
        near, far = (end(members, key=lambda c: cells[c.cell].ping_floor or 0.0) for end in (min, max))
        lead = _lead(near, cells)
        if lead is None or not _are_apart(cells[near.cell], cells[far.cell]) or said == _MOST_SERIES:
            continue
        said += 1
        where = f"{operation} {_call(near, cells)}" + (f", {rest[-1]}" if len(loads) > 1 else "")
        yield f"For {where}, {lead.label} takes {lead.in_words(f' less time than {lead.loser}')};"
        yield f"over distance {_course(lead, far, cells)}."


def _are_apart(near: CellSummary, far: CellSummary) -> bool:
    """Whether one is farther than the other: both ends on one host are as near with one CPU as with two (`pin`)."""
    return near.placement != far.placement and near.factors.get(PIN) == far.factors.get(PIN)


def _in_order(series: Mapping[tuple[str, ...], object]) -> Callable[[tuple[str, ...]], tuple[int, ...]]:
    """As they came, but the ways to call of one operation and stack stand together: they are what decides."""
    operations, stacks = ([*dict.fromkeys(key[i] for key in series)] for i in (0, 1))
    return lambda key: (operations.index(key[0]), stacks.index(key[1]))


def _course(near: _Lead, comparison: Comparison, cells: Cells) -> str:
    far = _lead(comparison, cells)
    place = cells[comparison.cell].placement
    if far is None:
        outcome = {"tie": "they tie", "not resolved": "it is not resolved"}.get(comparison.standing, "cannot tell")
        return f"this does not last: at {place} {outcome} ({comparison.why})"
    if far.winner != near.winner:
        return f"this reverses: {far.label} takes {far.in_words(f' less time than {far.loser}')}"
    verb = "becomes"
    if far.interval[1] < near.interval[0]:
        verb = "shrinks to"
    elif far.interval[0] > near.interval[1]:
        verb = "grows to"
    text = f"its lead {verb} {far.in_words()}"
    if far.floor_share is not None:
        text += f", where {words.percent(min(far.floor_share, 1.0))} of its time is the TCP floor"
    return text


def _lead(comparison: Comparison, cells: Cells) -> _Lead | None:
    """None where nobody leads, or the distance is not known."""
    if comparison.ratio is None or comparison.interval is None or comparison.standing not in _REVERSED:
        return None
    low, high = comparison.interval
    ratio, winner, loser = comparison.ratio, comparison.cell, comparison.reference_cell
    if comparison.standing == "slower":
        ratio, low, high, winner, loser = 1 / ratio, 1 / high, 1 / low, loser, winner
    cell = cells[winner]
    median = cell.distribution.median if cell.distribution else None
    if cell.ping_floor is None or not median:
        return None
    return _Lead(
        winner=cell.stack,
        label=cell.stack_label,
        loser=cells[loser].stack_label,
        placement=cell.placement,
        distance=cell.ping_floor,
        share=1 - ratio,
        interval=(1 - high, 1 - low),
        floor_share=cell.tcp_floor / median if cell.tcp_floor is not None else None,
    )
