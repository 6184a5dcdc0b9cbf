"""What holds over several groups of cells: who is quicker in how many of them, and what distance does to the lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis import words
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, Standing

_MOST_SERIES = 2
_OUTCOMES: tuple[tuple[Standing, str], ...] = (("faster", "quicker"), ("slower", "slower"), ("tie", "a tie"))


def overview(comparisons: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> str:
    """Sum up comparisons of medians; nothing with fewer than two groups, or where no group tells who is quicker."""
    groups = {comparison.group for comparison in comparisons}
    told = [c for c in comparisons if c.standing in ("faster", "slower")]
    if len(groups) < 2 or not told:
        return ""
    by_stack: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_stack.setdefault(comparison.stack, []).append(comparison)
    in_how_many = _pair(comparisons) if len(by_stack) == 1 else _several(list(by_stack.values()))
    return " ".join([in_how_many, *_over_distance(told, cells)])


def _pair(members: Sequence[Comparison]) -> str:
    """Of two stacks, the one that is quicker more often is the subject."""
    counts = Counter(member.standing for member in members)
    stack, reference = members[0].stack_label, members[0].reference_label
    wins, losses = counts["faster"], counts["slower"]
    if losses > wins:
        stack, reference, wins, losses = reference, stack, losses, wins
    rest = [
        text
        for count, text in (
            (losses, "slower in {}"),
            (counts["tie"], "a tie in {}"),
        )
        if count
        for text in [text.format(count)]
    ]
    unknown = f"; {counts['cannot tell']} cannot be told" if counts["cannot tell"] else ""
    return f"{stack} is quicker than {reference} in {', '.join([_of(wins, len(members)), *rest])}{unknown}."


def _of(count: int, total: int) -> str:
    if count < total:
        return f"{count} of {total} settings"
    return "both settings" if total == 2 else f"all {total} settings"


def _several(stacks: Sequence[Sequence[Comparison]]) -> str:
    """A clause for each outcome pattern; stacks that fared alike share one."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for members in stacks:
        counts = Counter(member.standing for member in members)
        pattern = (*(counts[standing] for standing, _ in _OUTCOMES), len(members))
        alike.setdefault(pattern, []).append(members[0].stack_label)
    clauses = []
    for (*counts_of, total), labels in sorted(alike.items(), reverse=True):
        parts = [f"{word} in {count}" for count, (_, word) in zip(counts_of, _OUTCOMES, strict=True) if count]
        if unknown := total - sum(counts_of):
            parts.append(f"{unknown} cannot be told")
        parts[0] += f" of {total}"
        clauses.append(f"{', '.join(labels)} {'is' if len(labels) == 1 else 'are'} {', '.join(parts)}")
    return f"Against {stacks[0][0].reference_label}, over all settings: {'; '.join(clauses)}."


@dataclass(frozen=True, kw_only=True)
class _Lead:
    """How much less time the quicker one of a pair takes, as a share with its interval, and at which distance."""

    winner: str
    label: str
    loser: str
    placement: str
    distance: float
    share: float
    interval: Interval
    floor_share: float | None

    def told(self, what: str = "") -> str:
        """The share, of what, with its interval, and where."""
        low, high = (words.percent(bound) for bound in self.interval)
        return f"{words.percent(self.share)}{what} ({low} to {high}) at {self.placement}"


def _over_distance(told: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> Iterator[str]:
    """For each operation, the lead at the shortest and at the longest distance, where one stack leads at both.

    A lead shrinks or grows where the two intervals have nothing in common; else it is only said what it becomes.
    """
    series: dict[tuple[str, ...], list[_Lead]] = {}
    for comparison in told:
        cell = cells[comparison.reference_cell]
        lead = _lead(comparison, cells)
        if lead is not None:
            series.setdefault((cell.operation, cell.connection, cell.load, comparison.stack), []).append(lead)
    said = 0
    for (operation, *_), leads in series.items():
        near, far = min(leads, key=lambda x: x.distance), max(leads, key=lambda x: x.distance)
        if near.placement != far.placement and near.winner == far.winner and said < _MOST_SERIES:
            said += 1
            yield f"For {operation}, {near.label} takes {near.told(f' less time than {near.loser}')};"
            yield f"over distance its lead {_course(near, far)}."


def _course(near: _Lead, far: _Lead) -> str:
    verb = "becomes"
    if far.interval[1] < near.interval[0]:
        verb = "shrinks to"
    elif far.interval[0] > near.interval[1]:
        verb = "grows to"
    text = f"{verb} {far.told()}"
    if far.floor_share is not None:
        text += f", where {words.percent(min(far.floor_share, 1.0))} of its time is the TCP floor"
    return text


def _lead(comparison: Comparison, cells: Mapping[str, CellSummary]) -> _Lead | None:
    """None where the distance or the interval is not known."""
    if comparison.ratio is None or comparison.interval is None:
        return None
    low, high = comparison.interval
    ratio, winner, loser = comparison.ratio, comparison.cell, comparison.reference_cell
    if comparison.standing == "slower":
        ratio, low, high, winner, loser = 1 / ratio, 1 / high, 1 / low, loser, winner
    cell = cells[winner]
    if cell.ping_floor is None or cell.distribution is None:
        return None
    return _Lead(
        winner=cell.stack,
        label=cell.stack_label,
        loser=cells[loser].stack_label,
        placement=cell.placement,
        distance=cell.ping_floor,
        share=1 - ratio,
        interval=(1 - high, 1 - low),
        floor_share=cell.tcp_floor / cell.distribution.median if cell.tcp_floor is not None else None,
    )
