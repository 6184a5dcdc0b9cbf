"""What follows the first sentence: what a difference is worth, how sure it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.findings import effects, power, validity
from orchestrator.findings.effects import Effect
from orchestrator.findings.grid import Distances
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes import words as axis_words
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.find import Curves
from orchestrator.questions.until.find import QUESTION as UNTIL
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.wording.one_setting import verb
from orchestrator.wording.phrasing import capital, named, scale_for, some

_IN_A_ROW = 1_000
_ONE = {"task": "a task", "stream": "an event"}  # of all else a call, also of what a codec's message is part of
_NO_ADVICE = ("tls", *effects.OF_THE_MEASUREMENT, "workers")  # faster is not what these are chosen for
_FOR_RATES = ("workers", "processes", "requesters")  # factors that are varied for how many are answered a second
_PARTS = {"reading": "which fields are read", "connection": "how connections are kept"}
_MOST_PARTS = 3
_MOST_REPEATS = 100  # more than that nobody measures to settle a question
_MOST_CROSSINGS = 2
_FEW = 0.001  # of requests without a right reply
_DECIDED = ("faster", "slower", "tie")


# ---- what it is worth


def crossings(curves: Sequence[Curves]) -> tuple[str, ...]:
    """Return from where along an axis another one is faster, with the interval of that place."""
    texts = [
        ": ".join((*([f"By {each.title}"] if len(curves) > 1 else []), *titles, axis_words.sentence(each.axis, gap)))
        for each in curves
        for panel in each.panels
        for titles in [[panel.title] if len(each.panels) > 1 else []]
        for gap in panel.gaps
        if gap.crossing is not None
    ]
    return tuple(texts[:_MOST_CROSSINGS])


def matters_from(summary: RunSummary, rankings: Sequence[Ranking], distances: Distances) -> str:
    """Return what the difference makes of 1,000 calls, and up to which call it matters; of several settings the largest."""
    if len(rankings) > 1:
        crossed = crossings(AXES.of(summary))
        return crossed[0] if crossed else _largest(rankings)
    (ranking,) = rankings
    first, *rest = ranking.tiers
    if not rest:
        return _of_equal(ranking, distances)
    gap = ranking.lead
    if not gap or ranking.statistic != "median":
        return ""
    calls = verb(ranking).several
    limit, margin = gap / ranking.matters, quantities.margin(ranking.matters)
    names = [named(ranking.names[tier.cells[0]]) for tier in (first, rest[0])]
    ahead = "" if len(ranking.ranked) == 2 else f"{names[0]} is {quantities.ms(gap)} faster than {names[1]}: "
    in_a_row = f"of {_IN_A_ROW:,} {calls} in a row this is {quantities.ms(gap * _IN_A_ROW)}; " if calls else ""
    fastest = ranking.cells[first.cells[0]]
    far = distances.far(fastest)
    if limit <= (far or 0.0):
        text = f"{ahead}{in_a_row}beside a round trip of {quantities.ms(far or 0.0)} it is less than {margin}"
    else:
        work = "" if fastest.kind == "codec" else ", by distance or work,"
        once = f"once {_ONE.get(fastest.kind, 'a call')} takes more than {quantities.ms(limit)}{work}"
        text = f"{ahead}{in_a_row}{once} it is less than {margin}"
    return f"{text if ahead else capital(text)}."


def _largest(rankings: Sequence[Ranking]) -> str:
    """Of several settings: the most that the fastest is ahead of the next."""
    gaps = [r.lead for r in rankings if r.tiers and len(r.tiers[0].cells) == 1 and r.lead is not None]
    calls = verb(rankings[0]).several
    if not gaps or not calls or rankings[0].statistic != "median":
        return ""
    most = max(gaps)
    total = f"{quantities.ms(most * _IN_A_ROW)} of {_IN_A_ROW:,} {calls} in a row"
    if any(len(ranking.ranked) > 2 for ranking in rankings):
        return f"The fastest is at most {quantities.ms(most)} ahead of the next, which makes {total}."
    return f"The largest difference, {quantities.ms(most)}, makes {total}."


def _of_equal(ranking: Ranking, distances: Distances) -> str:
    """Of equal sides, and of sides without a significant difference: how far apart they can be at most."""
    base = ranking.median(ranking.reference)
    bounds = [bound for side in ranking.sides for bound in side.interval]
    if base is None or any(bound > 10 for bound in bounds):
        return ""
    most = max((abs(bound - 1) * base for bound in bounds), default=0.0)
    if not most:
        return ""
    calls = verb(ranking).several
    reference = f" from {named(ranking.names[ranking.reference])}" if len(ranking.ranked) > 2 else ""
    text = scale_for([most]).text(most)
    if not ranking.tiers[0].alike:
        return f"If they differ{reference}, then by {text} at most."
    trip = distances.far(ranking.cells[ranking.reference])
    beside = f", beside a round trip of {quantities.ms(trip)}" if trip else ""
    in_a_row = f": of {_IN_A_ROW:,} {calls} in a row {quantities.ms(most * _IN_A_ROW)}" if calls else ""
    return f"They differ{reference} by {text} at most{beside}{in_a_row}."


def rates(summary: RunSummary, rankings: Sequence[Ranking]) -> str:
    """Return what more processes or hosts make of the requests answered a second, where the run varies those."""
    if rankings[0].factor not in _FOR_RATES:
        return ""
    pairs = {(m.cell, m.reference_cell): ranking for ranking in rankings for m in ranking.members}
    known = [
        c
        for c in summary.comparisons
        if c.statistic == "throughput" and c.ratio and (c.cell, c.reference_cell) in pairs
    ]
    decided = [c for c in known if c.standing in _DECIDED]
    if not decided:
        return "There is no significant difference in how many a second they answer." if known else ""
    most = min(decided, key=lambda c: c.ratio or 1.0)  # a ratio of times: the least is the most a second
    ranking = pairs[most.cell, most.reference_cell]
    names = ranking.names[most.cell], ranking.names[most.reference_cell]
    cells = ranking.cells[most.cell], ranking.cells[most.reference_cell]
    shown = " against ".join(quantities.rate(cell.throughput_per_s or 0.0) for cell in cells)
    if most.standing == "tie":
        return f"By how many a second, {ranking.subject} is equal {names[0]} and {names[1]} ({shown})."
    times = quantities.factor(1 / (most.ratio or 1.0))
    return f"At most, {ranking.subject} answered {times} times as many a second {names[0]} as {names[1]} ({shown})."


# ---- how sure


def sure(summary: RunSummary, rankings: Sequence[Ranking], seen: Sequence[Effect]) -> str:
    """Return from how many repeats, what they could have found, whose limit was reached, and what was not measured."""
    blocks = [len(m.by_block) for ranking in rankings for m in ranking.members if m.by_block]
    if not blocks:
        return ""
    least, most = min(blocks), max(blocks)
    text = (
        f"This rests on {least if least == most else f'{least} to {most}'} repeats with fresh processes, 95 % intervals"
    )
    if difference := _detectable(summary, most):
        text += f", which find a difference of {difference} or more four times in five"
    clauses = [*_not_compared(summary, rankings), *_waited_for(summary), *_by_p99(summary, rankings)]
    clauses += _failures(rankings)
    if limits := effects.limits(rankings):
        ends = {"both": "one of the ends"}
        each = [f"{ends.get(end, f'the {end}')} is the limit of {some(labels, 3)}" for end, labels in limits.items()]
        clauses.append(f"at this load {quantities.listed(each)}")
    if (envelope := max(ranking.envelope for ranking in rankings)) > log(1 + summary.matters):
        clauses.append(
            f"the reference, entered twice, differs from itself by {quantities.difference(exp(envelope) - 1)}"
        )
    if parts := [_PARTS.get(part, f"the {part}") for part in effects.unvaried(rankings, seen)]:
        shown = [*parts[:_MOST_PARTS], *(["other parts"] if len(parts) > _MOST_PARTS else [])]
        clauses.append(
            f"how much {quantities.listed(shown)} contribute{'s' if len(shown) == 1 else ''} was not measured"
        )
    return f"{'; '.join((text, *clauses))}."


def _not_compared(summary: RunSummary, rankings: Sequence[Ranking]) -> list[str]:
    """Who could not be compared, in any setting or in some; not those whose checks failed."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    names = dict.fromkeys(r.names[m.cell] for r in rankings for m in r.undecided if m.cell not in invalid)
    ranked = {name for ranking in rankings for name in ranking.ranked}
    never, at_times = ([name for name in names if (name in ranked) == is_ranked] for is_ranked in (False, True))
    clauses = [f"{some(never, 3)} could not be compared"] if never else []
    return clauses + ([f"{some(at_times, 3)} could not be compared in every setting"] if at_times else [])


def _waited_for(summary: RunSummary) -> list[str]:
    """Of a run that waited for narrow intervals: whether they came."""
    stopped = UNTIL.of(summary)
    if stopped is None:
        return []
    wanted = f"± {quantities.margin(stopped.within)} was wanted of every interval"
    if all(width.reaches is not None and width.reaches <= stopped.within for width in stopped.widths):
        return [f"{wanted}, and reached after {stopped.blocks} of at most {stopped.at_most} repeats"]
    is_over = stopped.blocks >= stopped.at_most
    return [f"{wanted}, and not reached within {stopped.at_most} repeats"] if is_over else []


def _by_p99(summary: RunSummary, rankings: Sequence[Ranking]) -> list[str]:
    """Which is faster by p99 where the median says otherwise, of a single setting."""
    if len(rankings) > 1 or rankings[0].statistic == "p99":
        return []
    (ranking,) = rankings
    by_median = {(m.cell, m.reference_cell): m.standing for m in ranking.members}
    texts = []
    for c in summary.comparisons:
        pair = (c.cell, c.reference_cell)
        standing = by_median.get(pair)
        if c.statistic != "p99" or c.control or standing is None or c.standing == standing:
            continue
        if c.factor == ranking.factor and c.standing in ("faster", "slower"):
            first, second = pair if c.standing == "faster" else pair[::-1]
            texts.append(f"{named(ranking.names[first])} is faster than {named(ranking.names[second])}")
    return [f"by p99, {quantities.listed(texts[:3])}"] if texts else []


def _failures(rankings: Sequence[Ranking]) -> list[str]:
    """Whose requests got no right reply, or were not sent, where that is more than a few."""
    cells = {cell: ranking.cells[cell] for ranking in rankings for cell in ranking.names}.values()
    failed = [cell for cell in cells if cell.requests and cell.failed > _FEW * cell.requests]
    clauses = []
    if failed:
        worst = max(failed, key=lambda cell: cell.failed / cell.requests)
        lost = quantities.no_reply(worst.failed, worst.requests, worst.kind)
        clauses.append(f"with {named(worst.stack_label)} {lost}, and counts as slowest")
    if unsent := [cell for cell in cells if cell.is_of_those_sent]:
        most = max(unsent, key=lambda cell: cell.share_unsent)
        clauses.append(
            f"{quantities.percent(most.share_unsent)} of what was due with {named(most.stack_label)} was not sent"
        )
    return clauses


def _detectable(summary: RunSummary, blocks: int) -> str:
    compared = sum(1 for c in summary.comparisons if c.statistic == "median" and not c.control)
    sd = power.spread_of(summary.comparisons)
    if not sd:
        return ""
    least = power.smallest_detectable(sd, blocks, margin=summary.matters, compared=max(1, compared))
    return "" if least is None or least > 100 else quantities.difference(least)


# ---- what to do


def advice(summary: RunSummary, rankings: Sequence[Ranking], seen: Sequence[Effect], distances: Distances) -> str:
    """Return the run's own advice, where nothing forbids it."""
    kinds = {ranking.outcome.kind for ranking in rankings}
    if kinds <= {"open", "none"}:
        return _of_open(summary)
    if effect := effects.greatest(seen, rankings):
        return _of_effect(*effect, rankings[0].factor)
    if kinds == {"equal"} and all(len(ranking.tiers) == 1 for ranking in rankings):
        return "Choose by other grounds: what it takes to build, to run and to change."
    if len({ranking.outcome for ranking in rankings}) > 1 or kinds != {"fastest"}:
        return _of_turning(rankings)
    (winner,) = rankings[0].outcome.names
    if all(_is_small(ranking, distances) for ranking in rankings):
        return "Choose by other grounds: over this distance the difference disappears in the round trip."
    if rankings[0].factor == STACK:
        return f"Where this time counts, choose {named(winner)}."
    factor = BY_NAME[rankings[0].factor]
    is_choice = factor.belongs_to == "call" and factor.name not in _NO_ADVICE  # a placement, load or payload is none
    return f"Where this time counts, make calls {winner}." if is_choice else ""


def _of_effect(effect: Effect, least: float, factor: str) -> str:
    """What to see to first, with both figures."""
    what = "the choice between stacks" if factor == STACK else f"the {BY_NAME[factor].title}"
    if effect.factor == "connection" and effect.better == "reuse":
        return (
            f"Keep connections open first: that is worth {quantities.ms(effect.gap)} a call, {what} at most "
            f"{quantities.ms(least)}."
        )
    choice = BY_NAME[effect.factor]
    return (
        f"The {choice.title} decides more: {choice.briefly(effect.better)} rather than {choice.briefly(effect.worse)} "
        f"makes {quantities.ms(effect.gap)} with {named(effect.stack)}, {what} at most {quantities.ms(least)}."
    )


def _is_small(ranking: Ranking, distances: Distances) -> bool:
    """Whether the difference to the next is less than what matters beside the distance."""
    far = distances.far(ranking.cells[ranking.reference])
    gap = ranking.lead if len(ranking.tiers) > 1 else 0.0
    return far is not None and gap is not None and gap <= ranking.matters * far


def _of_turning(rankings: Sequence[Ranking]) -> str:
    outcomes = {ranking.outcome for ranking in rankings}
    winners = {name for outcome in outcomes if outcome.kind == "fastest" for name in outcome.names}
    if not winners:
        by = "by other grounds"
        if any(outcome.kind == "open" for outcome in outcomes):
            by += ", or measure more repeats"
        (names, *others) = {outcome.names for outcome in outcomes}
        return f"Choose {by}." if others else f"Between {some(sorted(names), 3)} choose {by}."
    if len(winners) == 1 and rankings[0].factor == STACK:
        (winner,) = winners
        return f"Choose {named(winner)} where it is fastest and that time counts; elsewhere choose by other grounds."
    return "Choose by the setting that is yours."


def _of_open(summary: RunSummary) -> str:
    """How many repeats would find a difference, as the plan counts them."""
    compared = [c for c in summary.comparisons if c.statistic == "median" and not c.control]
    planned = max([len(c.by_block) for c in compared] + [cell.planned_trials for cell in summary.cells], default=0)
    if planned >= FEWEST_BLOCKS and all(c.interval is None for c in compared):
        return "More repeats alone will not help: `orch runs check` says what to do."
    sd = power.spread_of(summary.comparisons) or power.DEFAULT_SD
    needed = power.repeats_to_settle(summary.matters, sd, compared=max(1, len(compared)))
    margin = quantities.margin(summary.matters)
    if needed is None or needed > _MOST_REPEATS:
        repeats = "over 1,000" if needed is None else f"{needed:,}"
        return (
            "Measure longer trials on a quieter machine, or let only a larger difference matter (`matters`): at this "
            f"spread it takes {repeats} repeats to find one of {margin}."
        )
    more = max(needed, 2 * planned) if needed <= planned else needed
    return f"Measure {more} repeats to find a difference of {margin} at this spread: `--set repeats={more}`."
