"""The sentences that answer the experiment's question, from the same numbers as every table and chart.

What failed comes before what is fast: a latency means something else to a reader who knows that one request in a hundred
got no reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from orchestrator.analysis import contrasted, differing, equivalence, leading, transferred, validity, words
from orchestrator.analysis.cells import by_median
from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.clients import unlike_clients
from orchestrator.analysis.overview import overview
from orchestrator.analysis.summary import CellSummary, Comparison, Standing
from orchestrator.experiment.model.factors import STACK
from orchestrator.questions.evolution import find as evolution
from orchestrator.questions.stores import words as store_words

_MOST_FAILURES = 4
_KINDS = {
    "wrong-reply": "wrong",
    "refused": "refused",
    "closed": "connection closed",
    "timeout": "timed out",
    "protocol": "answered with an error",
    "undecodable": "undecodable",
    "cancelled": "cancelled",
}
_BESIDE_THE_MEDIAN = {"p99": "p99", "throughput": "throughput (time per {sample})"}
_PERCENTILES = {"median": "the median", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def verdicts(
    cells: Sequence[CellSummary],
    comparisons: Sequence[Comparison],
    checks: Sequence[CheckResult],
    matters: float = equivalence.MATTERS,
) -> tuple[str, ...]:
    """Failed checks, errors, what factors do, what holds over all groups, each group and setting, bytes, what differs.

    `matters` is the margin of the experiment: what differs by less is not called the fastest of several.
    """
    by_id = {cell.id: cell for cell in cells}
    groups: dict[tuple[str, str], list[Comparison]] = {}
    by_stack = [c for c in comparisons if c.factor == STACK]
    for comparison in by_stack:
        if comparison.statistic == "median" and not comparison.control:
            groups.setdefault((comparison.reference_label, comparison.group), []).append(comparison)
    sentences = [*_failures(cells), *_unsent(cells), *contrasted.overviews(comparisons, matters, by_id)]
    for reference in dict.fromkeys(label for label, _ in groups):
        of_reference = {group: members for (label, group), members in groups.items() if label == reference}
        in_general = overview([c for members in of_reference.values() for c in members], by_id)
        sentences += [in_general] if in_general else []
        for group, members in of_reference.items():
            beside = [
                c
                for c in by_stack
                if c.group == group and (c.control or c.reference_label == reference) and c not in members
            ]
            sentences.append(_of_group(group, members, beside, by_id, matters))
    sentences += [evolved] if (evolved := evolution.sentence(cells)) else []
    sentences += [said for said in (store_words.sentence(cells), store_words.queries(cells)) if said]
    sentences += contrasted.settings(comparisons, by_id)
    compared = {c.cell for c in comparisons} | {c.reference_cell for c in comparisons}
    sentences += [_alone(cell) for cell in cells if cell.id not in compared and cell.distribution]
    invalid_cells = validity.invalid_cells(cells, checks)
    sentences += transferred.sentences([cell for cell in cells if cell.id not in invalid_cells], comparisons, matters)
    sentences += [differences] if (differences := differing.sentence(comparisons)) else []
    sentences += [clients] if (clients := unlike_clients(cells, comparisons)) else []
    invalid = validity.sentence(cells, checks)
    return (invalid, *sentences) if invalid else tuple(sentences)


def count_before_answer(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> int:
    """How many of `verdicts` say what is invalid, what failed and what was not sent, ahead of any answer."""
    return sum(1 for _ in _failures(cells)) + sum(1 for _ in _unsent(cells)) + bool(validity.sentence(cells, checks))


# ---- what failed


def _failures(cells: Sequence[CellSummary]) -> Iterator[str]:
    """The cells with the largest share of requests without a right reply, or with trials that failed as a whole."""
    failed = [cell for cell in cells if cell.failed or cell.failed_trials]
    worst = sorted(failed, key=lambda c: (_share_failed(c), c.failed_trials), reverse=True)
    for cell in worst[:_MOST_FAILURES]:
        yield f"{_where(cell)}: {cell.stack_label}: {'; '.join(_failure(cell))}."
    if len(worst) > _MOST_FAILURES:
        yield f"{words.count(len(worst) - _MOST_FAILURES, 'more cell')} also had errors (see the table)."


def _unsent(cells: Sequence[CellSummary]) -> Iterator[str]:
    """The cells that left out more than a few of the requests that were due: their percentiles are of the others."""
    left = sorted((cell for cell in cells if cell.is_of_those_sent), key=lambda c: c.share_unsent, reverse=True)
    for cell in left[:_MOST_FAILURES]:
        why = f" ({words.listed(cell.not_sent_reasons)})" if cell.not_sent_reasons else ""
        yield (
            f"{_where(cell)}: {cell.stack_label}: {words.percent(cell.share_unsent)} of the requests that were due were "
            f"not sent{why}: its percentiles cover only those that were."
        )
    if len(left) > _MOST_FAILURES:
        yield f"{words.count(len(left) - _MOST_FAILURES, 'more cell')} also left requests unsent (see the table)."


def _share_failed(cell: CellSummary) -> float:
    return cell.failed / cell.requests if cell.requests else 0.0


def _failure(cell: CellSummary) -> Iterator[str]:
    if cell.failed:
        kinds = ", ".join(f"{number:,} {_KINDS.get(kind, kind)}" for kind, number in sorted(cell.errors.items()))
        yield f"{words.no_reply(cell.failed, cell.requests, cell.kind)} ({kinds})"
    if beyond := _beyond(cell):
        yield beyond
    if cell.failed_trials:
        total = len(cell.trials) + cell.failed_trials
        planned = f" ({cell.planned_trials} were planned)" if cell.planned_trials > total else ""
        yield f"{cell.failed_trials} of {words.count(total, 'trial')} failed entirely and gave no samples{planned}"


def _beyond(cell: CellSummary) -> str:
    """The first percentile that falls among the requests without a right reply, over all trials or in some of them."""
    of = cell.distribution
    if of is None:
        return ""
    beyond = "falls among them" if cell.kind == "stream" else f"is beyond {words.limit(of.limit, cell.timeout)}"
    for name, called in _PERCENTILES.items():
        if name in of.censored:
            return f"{called} {beyond}"
    blocks = sum("p99" in trial.censored for trial in cell.trials)
    return f"p99 {beyond} in {blocks} of {words.count(len(cell.trials), 'block')}" if blocks else ""


# ---- one group of comparable cells


def _of_group(
    group: str,
    members: Sequence[Comparison],
    beside: Sequence[Comparison],
    cells: dict[str, CellSummary],
    matters: float,
) -> str:
    """`members` are by the median; `beside` are the group's other statistics and its controls."""
    reference = members[0].reference_label
    clauses = list(_clauses(members, cells))
    if lead := _fastest(members, _envelope(beside), cells, matters):
        clauses = [f"{lead}; {clauses[0]}", *clauses[1:]] if clauses else [lead]
    ties = _with(members, "tie")
    if ties:
        alike = words.listed([f"{m.stack_label} ({m.why})" for m in ties])
        clauses.append(f"a tie by the median with {reference}: {alike}")
    clauses += _not_resolved(_with(members, "not resolved"), reference)
    clauses += _cannot_tell(_with(members, "cannot tell"), reference)
    if otherwise := _otherwise(members, beside, words.sample([cells[members[0].cell].kind])):
        clauses[0] += f"; but {otherwise}"  # of the first sentence: it may be the only one that is read
    return f"{group}: {_joined(clauses)}"


def _otherwise(members: Sequence[Comparison], beside: Sequence[Comparison], sample: str) -> str:
    """Who is faster or slower by p99 or throughput, and is not by the median."""
    by_median = {m.cell: m.standing for m in members}
    clauses = []
    for statistic, called in _BESIDE_THE_MEDIAN.items():
        found = [c for c in beside if c.statistic == statistic and not c.control and c.standing in ("faster", "slower")]
        gaps = [_gap(c, than=c.reference_label) for c in found if by_median.get(c.cell) not in (None, c.standing)]
        if gaps:
            clauses.append(f"by {called.format(sample=sample)}, {words.listed(gaps)}")
    return "; ".join(clauses)


def _envelope(beside: Sequence[Comparison]) -> float:
    """By how much the reference differs from itself by the median, as |log ratio|; 0 without a control."""
    controls = [c.ratio for c in beside if c.control and c.statistic == "median" and c.ratio]
    return max((abs(log(ratio)) for ratio in controls), default=0.0)


def _fastest(members: Sequence[Comparison], envelope: float, cells: dict[str, CellSummary], matters: float) -> str:
    """Which of three stacks or more is fastest, or between which of them that is open; of two, the comparison says it.

    By the rule of `leading`: by more than matters, and by more than the reference differs from itself.
    """
    decided = sorted((m for m in members if m.interval and m.standing != "cannot tell"), key=_ratio)
    if len(decided) < 2 or all(m.standing == "slower" for m in members):
        return ""
    # By the ratio, as every other clause: a stack that lost blocks has a median of the others.
    sides = [side for m in decided if (side := leading.side_of(m))]
    reference = members[0].reference_cell
    ahead = leading.leaders(sides, reference, max(log(1 + matters), envelope), lambda cell: by_median(cells[cell]))
    labels = [cells[cell].stack_label for cell in ahead]
    if len(ahead) == 1:
        return f"{labels[0]} is fastest{'' if len(decided) == len(members) else ' of those that could be compared'}"
    if envelope <= log(1 + matters) and leading.are_alike(ahead, sides, reference, matters):
        return f"{words.listed(labels)} are fastest, less than {words.margin(matters)} apart"
    lowest = next((side.ratio for side in sides if side.cell == ahead[0]), None)
    shown = "the reference" if lowest is None else f"{words.factor(lowest)}×"
    return f"which of {words.listed(labels)} is fastest is not resolved (lowest ratio so far: {labels[0]}, {shown})"


def _with(members: Sequence[Comparison], standing: Standing) -> list[Comparison]:
    return [m for m in members if m.standing == standing]


def _joined(clauses: Sequence[str]) -> str:
    """Each clause a sentence; the first one follows a colon."""
    return " ".join(f"{text if i == 0 else text[0].upper() + text[1:]}." for i, text in enumerate(clauses))


def _clauses(members: Sequence[Comparison], cells: dict[str, CellSummary]) -> Iterator[str]:
    """Who is faster and who slower than the reference, and what of the fastest one's time is not the stack's."""
    faster = sorted(_with(members, "faster"), key=_ratio)
    slower = sorted(_with(members, "slower"), key=_ratio)
    if not faster + slower:
        return
    first, *others = faster + slower
    others_too = "".join(f"; {_brief(m)}" for m in others)
    reference = first.reference_label
    if len(slower) == len(members):
        yield f"{reference} is ahead by the median: {_gap(first)}{others_too}"
    else:
        yield f"by the median, {_gap(first, than=reference)}{others_too}"
    best = cells[first.cell] if faster else cells[first.reference_cell]
    compared = [cells[first.reference_cell], *(cells[m.cell] for m in members)]
    yield from (text for text in (_floor_share(best), _client_shares(compared)) if text)


def _ratio(comparison: Comparison) -> float:
    return comparison.ratio or 1.0


def _gap(comparison: Comparison, *, than: str = "") -> str:
    ratio = _ratio(comparison)
    text = f"{comparison.stack_label} {words.times(ratio)}"
    if than:
        text += f" {'as' if ratio >= 2 else 'than'} {than}"
    if comparison.interval:
        low, high = words.bounds(comparison.interval)
        again = "" if ratio >= 2 else f"ratio {words.factor(ratio)}, "  # else it was just said
        text += f" ({again}95 % interval {low} to {high})"
    return text


def _brief(comparison: Comparison) -> str:
    return f"{comparison.stack_label} {words.times(_ratio(comparison)).removeprefix('takes ').removesuffix(' time')}"


def _not_resolved(members: Sequence[Comparison], reference: str) -> Iterator[str]:
    if members:
        wide = [
            m
            for m in members
            if _is_wide(m)
            and m.interval
            and m.interval[0] <= 1 <= m.interval[1]
            and equivalence.differ_too_much(m.by_block)
        ]
        apart = wide if len(wide) > 1 else []
        each = [f"{m.stack_label}{':' if _is_wide(m) else ' takes'} {m.why}" for m in members if m not in apart]
        if apart:
            bounds = [f"{m.stack_label} ({' to '.join(words.bounds(m.interval))}×)" for m in apart if m.interval]
            each.append(f"the blocks differ too much for {words.listed(bounds)}")
        yield f"not resolved against {reference}: {'; '.join(each)}"


def _is_wide(comparison: Comparison) -> bool:
    return comparison.interval is not None and equivalence.is_wide(comparison.interval)


def _cannot_tell(members: Sequence[Comparison], reference: str) -> Iterator[str]:
    """By reason: too few blocks, or a median that falls among requests without a right reply."""
    reasons: dict[str, list[Comparison]] = {}
    for member in members:
        reasons.setdefault(member.why, []).append(member)
    for why, alike in reasons.items():
        verb = "compares" if len(alike) == 1 else "compare"
        yield f"cannot tell how {words.listed([m.stack_label for m in alike])} {verb} with {reference}: {why}"
        if seen := [f"{m.stack_label} {words.factor(m.ratio)}×" for m in alike if m.ratio is not None]:
            yield f"observed so far, against {reference}: {', '.join(seen)}"


def _floor_share(cell: CellSummary) -> str:
    """How much of a median is floor; nothing to say of the floor's own protocol."""
    middle = cell.distribution.median if cell.distribution else None
    if cell.tcp_floor is None or not middle or cell.protocol == "tcp":
        return ""
    share = cell.tcp_floor / middle
    median, floor = words.ms(middle), words.ms(cell.tcp_floor)
    if share >= 1:
        return f"the median of {cell.stack_label}, {median}, is no longer than the TCP floor ({floor})"
    return f"of the median of {cell.stack_label}, {median}, {floor} ({words.percent(share)}) is the TCP floor"


def _client_shares(cells: Sequence[CellSummary]) -> str:
    """What the clients make of the latencies, where the same responder was asked over a bare socket too."""
    known = [(cell, cell.client_share) for cell in cells if cell.client_share is not None]
    shares = [
        f"{words.percent(max(share, 0.0))} of {cell.stack_label}"
        + ("" if cell.client in cell.stack_label else f" ({cell.client})")
        for cell, share in known
    ]
    return f"the client accounts for {words.listed(shares)}" if shares else ""


# ---- cells by themselves


def _where(cell: CellSummary) -> str:
    return cell.setting


def _alone(cell: CellSummary) -> str:
    """A cell with nothing to compare it with."""
    of = cell.distribution
    if of is None or of.median is None:
        without = "events that never came right" if cell.kind == "stream" else "requests without a right reply"
        return f"{_where(cell)}: {cell.stack_label} has no median: it falls among {without}."
    text = f"{cell.stack_label} takes {words.ms(of.median)} in the median"
    if cell.stream is not None:
        timed = "to deliver an event" if cell.stream.timed == "delivery" else "from one event to the next"
        text = f"{cell.stack_label} takes {words.ms(of.median)} {timed}, in the median"
    if cell.median_interval:
        text += f" ({words.interval_of(cell.median_interval)})"
    return f"{_where(cell)}: {_joined([text, *(t for t in (_floor_share(cell), _client_shares([cell])) if t)])}"
