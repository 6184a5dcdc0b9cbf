"""What stands behind the first sentence: what a difference is worth, how sure it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from orchestrator.analysis import along, power, validity, words
from orchestrator.analysis.conclusion import decides
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.conclusion.first import verb
from orchestrator.analysis.conclusion.places import Distances
from orchestrator.analysis.conclusion.plain import capital, named, scale_for, some
from orchestrator.analysis.conclusion.several import Outcome, outcome
from orchestrator.analysis.intervals import FEWEST_BLOCKS
from orchestrator.analysis.summary import RunSummary
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.until.find import QUESTION as UNTIL

_IN_A_ROW = 1_000
_ONE = {"task": "a task", "stream": "an event"}  # of all else a call, also of what a codec's message is part of
_NO_ADVICE = ("tls", *decides.OF_THE_MEASUREMENT, "workers")  # quicker is not what these are chosen for
_FOR_RATES = ("workers", "processes", "requesters")  # factors that are asked about for how many are answered a second
_MOST_PARTS = 3
_MOST_REPEATS = 100  # more than that nobody measures to settle a question
_FEW = 0.001  # of requests without a right reply


# ---- what it is worth


def matters_from(summary: RunSummary, arenas: Sequence[Arena], distances: Distances) -> str:
    """Of one setting: what the difference makes of 1,000 calls, and up to which call it matters; of several the largest."""
    if len(arenas) > 1:
        crossed = along.crossings(AXES.of(summary))
        return crossed[0] if crossed else _largest(arenas)
    (arena,) = arenas
    first, *rest = arena.tiers
    if not rest:
        return _of_equal(arena, distances, is_alike=first.alike)
    ahead, behind = first.cells[0], rest[0].cells[0]
    gap = arena.gap(ahead, behind)
    if not gap or arena.statistic != "median":
        return ""
    of = verb(arena)
    limit, margin = gap / arena.matters, words.margin(arena.matters)
    names = [named(arena.names[cell]) for cell in (ahead, behind)]
    ahead_of = "" if len(arena.told) == 2 else f"{names[0]} is {words.ms(gap)} ahead of {names[1]}: "
    in_a_row = f"of {_IN_A_ROW:,} {of.several} in a row this is {words.ms(gap * _IN_A_ROW)}; " if of.several else ""
    far = distances.far(arena.cells[ahead])
    if limit <= (far or 0.0):
        text = f"{ahead_of}{in_a_row}beside a round trip of {words.ms(far or 0.0)} it is less than {margin}"
    else:
        kind = arena.cells[ahead].kind
        work = "" if kind == "codec" else ", by distance or work,"
        once = f"once {_ONE.get(kind, 'a call')} takes more than {words.ms(limit)}{work}"
        text = f"{ahead_of}{in_a_row}{once} it is less than {margin}"
    return f"{text if ahead_of else capital(text)}."


def _largest(arenas: Sequence[Arena]) -> str:
    """Of several settings: the most that the first is ahead of the next."""
    gaps = _gaps(arenas)
    if not gaps or arenas[0].statistic != "median":
        return ""
    most = max(gaps)
    of = verb(arenas[0])
    if not of.several:
        return ""
    total = f"{words.ms(most * _IN_A_ROW)} of {_IN_A_ROW:,} {of.several} in a row"
    if any(len(arena.told) > 2 for arena in arenas):
        return f"The first is ahead of the next by {words.ms(most)} at most, which makes {total}."
    return f"The largest difference, {words.ms(most)}, makes {total}."


def _gaps(arenas: Sequence[Arena]) -> list[float]:
    """By how much one alone is ahead of the next, in ms, where that is so."""
    return [
        gap
        for arena in arenas
        if len(arena.tiers) > 1
        and len(arena.tiers[0].cells) == 1
        and (gap := arena.gap(arena.tiers[0].cells[0], arena.tiers[1].cells[0])) is not None
    ]


def _of_equal(arena: Arena, distances: Distances, *, is_alike: bool) -> str:
    """Of equal sides, and of sides that cannot be told apart: how far apart they can be at most."""
    base = arena.median(arena.reference)
    if base is None:
        return ""
    most = max((abs(bound - 1) * base for side in arena.sides for bound in side.interval), default=0.0)
    if not most or any(bound > 10 for side in arena.sides for bound in side.interval):
        return ""
    of = verb(arena)
    reference = f" from {named(arena.names[arena.reference])}" if len(arena.told) > 2 else ""
    text = scale_for([most]).text(most)
    if is_alike:
        trip = distances.far(arena.cells[arena.reference])
        beside = f", beside a round trip of {words.ms(trip)}" if trip else ""
        in_a_row = f": of {_IN_A_ROW:,} {of.several} in a row {words.ms(most * _IN_A_ROW)}" if of.several else ""
        return f"They differ{reference} by {text} at most{beside}{in_a_row}."
    return f"If they differ{reference}, then by {text} at most."


def rates(summary: RunSummary, arenas: Sequence[Arena]) -> str:
    """What more processes or hosts make of the requests answered a second, where that was asked; else empty."""
    if arenas[0].factor not in _FOR_RATES:
        return ""
    pairs = {(m.cell, m.reference_cell): arena for arena in arenas for m in arena.members}
    found = [
        c
        for c in summary.comparisons
        if c.statistic == "throughput" and c.ratio and (c.cell, c.reference_cell) in pairs
    ]
    told = [c for c in found if c.standing in ("faster", "slower", "tie")]
    if not told:
        return "How many a second they answer this run cannot tell apart." if found else ""
    most = min(told, key=lambda c: c.ratio or 1.0)  # a ratio of times: the least is the most a second
    arena = pairs[most.cell, most.reference_cell]
    names = arena.names[most.cell], arena.names[most.reference_cell]
    cells = arena.cells[most.cell], arena.cells[most.reference_cell]
    shown = " against ".join(words.rate(cell.throughput_per_s or 0.0) for cell in cells)
    if most.standing == "tie":
        return f"By how many a second, {arena.subject} is equal {names[0]} and {names[1]} ({shown})."
    times = words.factor(1 / (most.ratio or 1.0))
    return f"At most, {arena.subject} answered {times} times as many a second {names[0]} as {names[1]} ({shown})."


# ---- how sure


def sure(summary: RunSummary, arenas: Sequence[Arena], seen: Sequence[decides.Effect]) -> str:
    """From how many repeats, what they could have found, whose limit was reached, and what was not measured."""
    blocks = [len(m.by_block) for arena in arenas for m in arena.members if m.by_block]
    if not blocks:
        return ""
    least, most = min(blocks), max(blocks)
    repeats = f"{least if least == most else f'{least} to {most}'} repeats with fresh processes, 95 % intervals"
    clauses = [f"This rests on {repeats}"]
    if found := _findable(summary, most):
        clauses.append(f"which find a difference of {found} or more four times in five")
    text = ", ".join(clauses)
    text += _untold(summary, arenas)
    text += _waited_for(summary) + _by_p99(summary, arenas) + _failures(arenas)
    if limit := decides.limits(arenas[0].cells, arenas):
        text += f"; at this load {limit}"
    if (envelope := max(arena.envelope for arena in arenas)) > log(1 + summary.matters):
        text += f"; the reference, entered twice, differs from itself by {words.difference(exp(envelope) - 1)}"
    if parts := decides.unmeasured(summary, arenas, seen):
        shown = [*parts[:_MOST_PARTS], *(["other parts"] if len(parts) > _MOST_PARTS else [])]
        text += f"; what {words.listed(shown)} {'makes' if len(shown) == 1 else 'make'} of it was not measured here"
    return f"{text}."


def _untold(summary: RunSummary, arenas: Sequence[Arena]) -> str:
    """Who could not be compared, in any setting or in some, as clauses; not those whose failed checks are said already."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    names = dict.fromkeys(arena.names[m.cell] for arena in arenas for m in arena.undecided if m.cell not in invalid)
    told = {name for arena in arenas for name in arena.told}
    never, at_times = ([name for name in names if (name in told) == is_told] for is_told in (False, True))
    text = f"; {some(never, 3)} could not be compared" if never else ""
    return text + (f"; {some(at_times, 3)} could not be compared in every setting" if at_times else "")


def _waited_for(summary: RunSummary) -> str:
    """Of a run that waited for narrow intervals: whether they came, as a clause."""
    stopped = UNTIL.of(summary)
    if stopped is None:
        return ""
    wanted = f"; ± {words.margin(stopped.within)} was wanted of every interval"
    if all(width.reaches is not None and width.reaches <= stopped.within for width in stopped.widths):
        return f"{wanted}, and reached after {stopped.blocks} of at most {stopped.at_most} repeats"
    return f"{wanted}, and not reached within {stopped.at_most} repeats" if stopped.blocks >= stopped.at_most else ""


def _by_p99(summary: RunSummary, arenas: Sequence[Arena]) -> str:
    """Who is ahead by p99 where the median says another, of a single setting, as a clause."""
    if len(arenas) > 1 or arenas[0].statistic == "p99":
        return ""
    (arena,) = arenas
    by_median = {(m.cell, m.reference_cell): m.standing for m in arena.members}
    found = []
    for c in summary.comparisons:
        pair = (c.cell, c.reference_cell)
        told = by_median.get(pair)
        if c.statistic != "p99" or c.control or told is None or c.standing == told or c.factor != arena.factor:
            continue
        if c.standing in ("faster", "slower"):
            first, second = pair if c.standing == "faster" else pair[::-1]
            found.append(f"{named(arena.names[first])} is ahead of {named(arena.names[second])}")
    return f"; by p99, {words.listed(found[:3])}" if found else ""


def _failures(arenas: Sequence[Arena]) -> str:
    """Whose requests got no right reply, or were not sent, where that is more than a few, as clauses."""
    cells = {name: arena.cells[name] for arena in arenas for name in arena.names}.values()
    failed = [cell for cell in cells if cell.requests and cell.failed > _FEW * cell.requests]
    text = ""
    if failed:
        worst = max(failed, key=lambda cell: cell.failed / cell.requests)
        lost = words.no_reply(worst.failed, worst.requests, worst.kind)
        text = f"; with {named(worst.stack_label)} {lost}, and counts as slowest"
    if unsent := [cell for cell in cells if cell.is_of_those_sent]:
        most = max(unsent, key=lambda cell: cell.share_unsent)
        text += f"; {words.percent(most.share_unsent)} of what was due with {named(most.stack_label)} was never sent"
    return text


def _findable(summary: RunSummary, blocks: int) -> str:
    asked = [c for c in summary.comparisons if c.statistic == "median" and not c.control]
    sd = power.spread_of(summary.comparisons)
    if not sd:
        return ""
    least = power.smallest_detectable(sd, blocks, margin=summary.matters, compared=max(1, len(asked)))
    return "" if least is None or least > 100 else words.difference(least)


# ---- what to do


def advice(summary: RunSummary, arenas: Sequence[Arena], seen: Sequence[decides.Effect], distances: Distances) -> str:
    """The run's own advice, where nothing forbids it."""
    outcomes = [outcome(arena) for arena in arenas]
    if all(of.kind in ("open", "none") for of in outcomes):
        return _of_open(summary)
    if found := decides.greatest(seen, arenas):
        return decides.advice(*found, arenas[0].factor)
    if all(of.kind == "equal" for of in outcomes) and all(len(arena.tiers) == 1 for arena in arenas):
        return "Choose by other grounds: what it takes to build, to run and to change."
    if len({*outcomes}) > 1 or outcomes[0].kind != "one":
        return _of_turning(arenas, outcomes)
    (winner,) = outcomes[0].names
    if _is_small(arenas, distances):
        return "Choose by other grounds: over this distance the difference disappears in the round trip."
    if arenas[0].factor != STACK:
        return _of_factor(arenas, winner)
    return f"Where this time counts, choose {named(winner)}."


def _is_small(arenas: Sequence[Arena], distances: Distances) -> bool:
    """Whether in every setting the difference to the next is less than matters beside the distance."""
    for arena in arenas:
        far = distances.far(arena.cells[arena.reference])
        first, *rest = arena.tiers
        gap = arena.gap(first.cells[0], rest[0].cells[0]) if rest else 0.0
        if far is None or gap is None or gap > arena.matters * far:
            return False
    return True


def _of_factor(arenas: Sequence[Arena], winner: str) -> str:
    """What to do about a factor: the better value, where it is a choice; a placement, a load or a payload is none."""
    factor = BY_NAME[arenas[0].factor]
    if factor.belongs_to != "call" or factor.name in _NO_ADVICE:
        return ""
    return f"Where this time counts, ask {winner}."


def _of_turning(arenas: Sequence[Arena], outcomes: Sequence[Outcome]) -> str:
    winners = dict.fromkeys(name for of in outcomes if of.kind == "one" for name in of.names)
    if not winners:
        is_open = any(of.kind == "open" for of in outcomes)
        by = "by other grounds, or measure more repeats" if is_open else "by other grounds"
        (names, *others) = {of.names for of in outcomes}
        return f"Choose {by}." if others else f"Between {some(sorted(names), 3)} choose {by}."
    if len(winners) == 1:
        (winner,) = winners
        if arenas[0].factor == STACK:
            return f"Choose {named(winner)} where it is ahead and that time counts; elsewhere choose by other grounds."
        return "Choose by the setting that is yours."
    return "Choose by the setting that is yours: the table has each."


def _of_open(summary: RunSummary) -> str:
    """How many repeats would tell them apart, as the plan counts them."""
    asked = [c for c in summary.comparisons if c.statistic == "median" and not c.control]
    planned = max([len(c.by_block) for c in asked] + [cell.planned_trials for cell in summary.cells], default=0)
    if planned >= FEWEST_BLOCKS and all(c.interval is None for c in asked):
        return "More repeats alone will not tell them apart: `orch check` says what to do."
    sd = power.spread_of(summary.comparisons) or power.DEFAULT_SD
    needed = power.repeats_to_settle(summary.matters, sd, compared=max(1, len(asked)))
    margin = words.margin(summary.matters)
    if needed is None or needed > _MOST_REPEATS:
        repeats = "over 1,000" if needed is None else f"{needed:,}"
        return (
            f"Measure longer trials on a quieter machine: at this spread it takes {repeats} repeats to tell a difference of "
            f"{margin}; or let only a larger one matter (`matters`)."
        )
    more = max(needed, 2 * planned) if needed <= planned else needed
    return (
        f"Measure {more} repeats to tell them apart: `--set repeats={more}` (a difference of {margin}, at this spread)."
    )
