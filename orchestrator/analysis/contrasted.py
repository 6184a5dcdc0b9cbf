"""What a factor does, in sentences: `with gzip, grpc takes 12 % more time than with no compression (10 to 14 %)`.

Each value beside a reference is a question of its own: one sentence over all stacks and settings, where there are several
comparisons, and then one for each setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.analysis import equivalence, words
from orchestrator.analysis.summary import CellSummary, Comparison, Interval
from orchestrator.experiment.model.factors import STACK

Question = Sequence[Comparison]

_OTHERS = {"p99": "p99", "throughput": "throughput (time per {sample})"}
_TAKES = {"faster": "take less time", "slower": "take more time"}
_OUTCOMES = {
    "faster": "takes less time",
    "slower": "takes more time",
    "tie": "a tie",
    "not resolved": "not resolved",
    "cannot tell": "cannot tell",
}


def overviews(comparisons: Sequence[Comparison], matters: float, cells: Mapping[str, CellSummary]) -> tuple[str, ...]:
    """One sentence for each value and reference of a factor: what it does to all stacks, in all settings."""
    return tuple(
        _overview(asked, matters, words.sample((cells[c.cell].kind for c in asked), "s"))
        for asked in _questions(comparisons)
    )


def settings(comparisons: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> Iterator[str]:
    """What each value does in each setting, where the overview does not say it whole; with the floors that differ."""
    for asked in _questions(comparisons):
        of_group: dict[str, list[Comparison]] = {}
        for comparison in asked:
            of_group.setdefault(comparison.group, []).append(comparison)
        is_said = len(asked) == 1 or (len(of_group) == 1 and {c.standing for c in asked} != {"tie"})
        for group, members in of_group.items():
            sentences = [] if is_said else [f"{'; '.join(_in_words(m, is_first=m is members[0]) for m in members)}."]
            sentences += _otherwise(members, comparisons, words.sample([cells[members[0].cell].kind]))
            sentences += _floors(members, cells)
            if sentences:
                yield f"{group}: {' '.join(sentences)}"


def _questions(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    found: dict[tuple[str, str, str], list[Comparison]] = {}
    for c in comparisons:
        if c.factor != STACK and c.statistic == "median":
            found.setdefault((c.factor, c.reference_value, c.value), []).append(c)
    return list(found.values())


def _overview(asked: Question, matters: float, samples: str) -> str:
    first = asked[0]
    if len(asked) == 1:
        return f"{_capital(_in_words(first, is_first=True))}."
    by_subject: dict[str, list[Comparison]] = {}
    for comparison in asked:
        by_subject.setdefault(comparison.subject, []).append(comparison)
    groups = len({c.group for c in asked})
    outcomes = {c.standing for c in asked}
    sides = f"{first.value} than {first.reference_value}"
    everywhere = "" if groups == 1 else f", in {_all(groups)} settings"
    who = _for_all(list(by_subject))
    if outcomes == {"tie"}:
        return (
            f"{who}, {samples} take as long {first.value} as {first.reference_value}{everywhere}: "
            f"a tie within {words.margin(matters)}."
        )
    if len(outcomes) == 1 and (takes := _TAKES.get(first.standing)):
        each = "; ".join(f"{subject} {_range(members)}" for subject, members in by_subject.items())
        return f"{who}, {samples} {takes} {sides}{everywhere}: {each}."
    each = "; ".join(f"{subject}: {_outcome(members)}" for subject, members in by_subject.items())
    return f"{_capital(first.value)} rather than {first.reference_value}: {each}."


def _for_all(subjects: Sequence[str]) -> str:
    if len(subjects) == 1:
        return f"For {subjects[0]}"
    return f"For {_all(len(subjects))} stacks"


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def _range(members: Question) -> str:
    """What the settings of a stack have between them, as all are decided alike; of a single one its interval."""
    if len(members) == 1:
        return _share(members[0])
    ratios = sorted(m.ratio or 1.0 for m in members)
    return _between((ratios[0], ratios[-1]), named=True)


def _outcome(members: Question) -> str:
    if len(members) == 1:
        member = members[0]
        if member.standing in _TAKES:
            return f"takes {_share(member, is_of_time=True)}"
        return f"{_OUTCOMES[member.standing]} ({member.why})"
    counts = [(text, sum(m.standing == standing for m in members)) for standing, text in _OUTCOMES.items()]
    clauses = [f"{text} in {count}" for text, count in counts if count]
    if len(clauses) == 1:
        return clauses[0].replace(f"in {len(members)}", f"in {_all(len(members))} settings")
    return f"{clauses[0]} of {len(members)} settings{''.join(f', {text}' for text in clauses[1:])}"


def _in_words(comparison: Comparison, *, is_first: bool) -> str:
    """One comparison; the sides are said with the first of several."""
    c = comparison
    lead = f"{c.value}, " if is_first else ""
    than = f" {c.reference_value}" if is_first else ""
    if c.standing in _TAKES:
        ratio = c.ratio or 1.0
        link = f" {'as' if ratio >= 2 else 'than'}{than}" if is_first else ""
        interval = f" ({_between(c.interval)})" if c.interval else ""
        text = f"{lead}{c.subject} {words.times(ratio)}{link}{interval}"
    elif c.standing == "tie":
        text = f"{lead}{c.subject} takes as long{f' as{than}' if is_first else ''}: a tie ({c.why})"
    elif not is_first:
        text = f"{c.subject}: {c.standing}, {c.why}"
    elif c.standing == "not resolved":
        text = f"whether {c.subject} is faster {c.value} or {c.reference_value} is not resolved: {c.why}"
    else:
        text = f"cannot tell how {c.subject} {c.value} compares with {c.subject} {c.reference_value}: {c.why}"
    return _capital(text) if is_first else text


def _otherwise(members: Question, comparisons: Sequence[Comparison], sample: str) -> Iterator[str]:
    """What another statistic decides otherwise than the median."""
    for statistic, called in _OTHERS.items():
        gaps = []
        for member in members:
            other = next((c for c in comparisons if c.statistic == statistic and _is_of(member, c)), None)
            if other and other.standing in _TAKES and other.standing != member.standing:
                gaps.append(_in_words(other, is_first=False))
        if gaps:
            yield f"By {called.format(sample=sample)}, {members[0].value}: {words.listed(gaps)}."


def _is_of(one: Comparison, other: Comparison) -> bool:
    return (one.factor, one.cell, one.reference_cell) == (other.factor, other.cell, other.reference_cell)


def _floors(members: Question, cells: Mapping[str, CellSummary]) -> Iterator[str]:
    """Where the floor beside the two sides is not the same: that total latency was compared, and what is above each."""
    sentences = []
    for member in members:
        mine, theirs = cells[member.cell], cells[member.reference_cell]
        if mine.tcp_floor is None or theirs.tcp_floor is None or mine.tcp_floor == theirs.tcp_floor:
            continue
        if mine.over_floor is not None and theirs.over_floor is not None and mine.protocol != "tcp":
            over = [words.ms(max(cell.over_floor or 0.0, 0.0)) for cell in (mine, theirs)]
            sentences.append(f"{member.subject} takes {over[0]} {member.value} and {over[1]} {member.reference_value}")
    if sentences:
        yield f"Whole latencies are compared, and the TCP floor differs too: above it, {'; '.join(sentences)}."


def _share(comparison: Comparison, *, is_of_time: bool = False) -> str:
    """`44 % less (40 to 48 %)`, `3.10 times as long (2.90 to 3.30 times)`."""
    text = words.times(comparison.ratio or 1.0).removeprefix("takes ")
    text = text if is_of_time else text.removesuffix(" time")
    return f"{text} ({_between(comparison.interval)})" if comparison.interval else text


def _between(interval: Interval, *, named: bool = False) -> str:
    """A ratio's bounds as words say the ratio; `named` says of which kind: `40 to 48 % less`."""
    low, high = interval
    if low > 0.05 and high < 1:
        return f"{_pair(1 - high, 1 - low)}{' less' if named else ''}"
    if low > 1 and high < 2:
        return f"{_pair(low - 1, high - 1)}{' more' if named else ''}"
    shown = words.bounds(interval)
    return f"{shown[0]} to {shown[1]} times{' as long' if named else ''}"


def _pair(low: float, high: float) -> str:
    first, last = equivalence.share(low), equivalence.share(high)
    return first if first == last else f"{first.removesuffix(' %')} to {last}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
