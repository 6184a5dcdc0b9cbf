"""What was found of rates, in words and as the rows of a table, for terminal, report and sentences alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import log
from operator import attrgetter
from statistics import fmean

from orchestrator import quantities
from orchestrator.experiment.model.goal import ERRORS
from orchestrator.experiment.read.units import format_rate
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.find import (
    QUESTION,
    Capacity,
    FoundRate,
    ProbeSummary,
    RateComparison,
    Search,
)
from orchestrator.questions.saturation.words import limit_in_words
from orchestrator.statistics import equivalence
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.wording.phrasing import change, change_span
from orchestrator.wording.reasons import clause
from orchestrator.wording.tables.table import Table, text_table

HEADS = (
    "stack",
    "highest rate",
    "95 % interval",
    "against the reference",
    "client CPU",
    "server CPU",
    "remarks",
)
NOTES = (
    "The highest rate is the median over searches, each of which bisects the rates tried; CPU is of one core, at the rates"
    " just above it. Differences are to the reference's rate. -: not known."
)


# ---- why a goal did not hold


def why_not(probe: ProbeSummary) -> str:
    """Return why goals did not hold in a trial, as a clause; empty where they did."""
    if probe.failure:
        return f"the trial failed ({probe.failure})"
    if probe.offered is None:
        return "no request was sent"
    clauses = []
    if not probe.is_offered:
        sent = min(probe.offered, probe.requests / max(1, probe.requests + probe.not_sent))
        clauses.append(f"only {quantities.percent(sent)} of the rate was sent")
    clauses += [_missed(name, probe.figures[name]) for name in probe.missed]
    return ", ".join(clauses)


def _missed(name: str, figure: float | None) -> str:
    if figure is None:
        return f"{name} lies among requests without a right reply, or never sent"
    return f"{name} {quantities.percent(figure) if name == ERRORS else quantities.ms(figure)}"


def figures(probe: ProbeSummary) -> str:
    """What a trial's goals were measured by: `p99 8.41 ms, errors 0.2 %`."""
    shown = (
        f"{name} "
        f"{'beyond every reply' if value is None else quantities.percent(value) if name == ERRORS else quantities.ms(value)}"
        for name, value in probe.figures.items()
    )
    return ", ".join(shown)


# ---- why there is no interval


def why_no_interval(found: FoundRate) -> str:
    """Return why a rate has no interval, as a clause; empty where it has one."""
    ended = len(found.ended)
    outside = sum(search.is_below or search.is_at_least for search in found.ended)
    if found.interval is not None:
        return ""
    if outside:
        return f"{outside} of {quantities.count(ended, 'search', 'searches')} ended outside of the rates tried"
    return f"{ended} of at least {FEWEST_BLOCKS} searches that an interval needs" if ended < FEWEST_BLOCKS else ""


def why(comparison: RateComparison, capacity: Capacity) -> str:
    """Return why two rates compare as they do, as a clause."""
    rates = {found.cell: found for found in capacity.rates}
    found, reference = rates[comparison.cell], rates[comparison.reference_cell]
    if comparison.bound and comparison.interval is not None:
        times = quantities.factor(comparison.interval[comparison.bound == "at most"])
        return f"{comparison.bound} {times} times as much, as {_one_sided(found, reference)}"
    if comparison.interval is not None:
        reason = equivalence.reason(
            comparison.interval,
            capacity.margin,
            envelope=0.0 if comparison.is_control else _envelope(comparison.setting, capacity),
            by_block=comparison.by_search,
            compared=1 if comparison.is_control else sum(map(_is_asked, capacity.comparisons)),
        )
        return "; ".join(filter(None, (quantities.between(comparison.interval), clause(reason, {}) if reason else "")))
    if len(comparison.by_search) >= FEWEST_BLOCKS:
        return _one_sided(found, reference)
    invalid = [f"{side.stack_label} failed {', '.join(side.invalid)}" for side in (found, reference) if side.invalid]
    if invalid:
        return "; ".join(invalid)
    if not comparison.by_search:
        return "no repeat has a search of both that ended"
    return f"{len(comparison.by_search)} of at least {FEWEST_BLOCKS} repeats that an interval needs"


def _is_asked(comparison: RateComparison) -> bool:
    return not comparison.is_control and len(comparison.by_search) >= FEWEST_BLOCKS


def _envelope(setting: str, capacity: Capacity) -> float:
    """Return how far controls of a setting differ from themselves, as the largest absolute mean of log ratios."""
    controls = [c for c in capacity.comparisons if c.is_control and c.setting == setting and c.by_search]
    return max((abs(fmean(map(log, c.by_search))) for c in controls), default=0.0)


def _one_sided(found: FoundRate, reference: FoundRate) -> str:
    """Return why a rate that is known from one side alone decides nothing, as a clause."""
    clauses = []
    for side in (found, reference):
        if any(search.is_below for search in side.searches):
            clauses.append(
                f"{side.stack_label} misses the goal at {format_rate(side.lowest_per_s)}, the lowest rate tried"
            )
        if any(search.is_at_least for search in side.searches):
            clauses.append(f"{side.stack_label} reaches {format_rate(side.highest_per_s)}, the highest rate tried")
        if side.is_requesters:
            clauses.append(f"{_LIMITS[str(side.limit)]} limits {side.stack_label}, whose responder may do more")
    return "; ".join(clauses)


_LIMITS = {
    "requester": "the requester's CPU",
    "in flight": "how many requests may be in flight",
    "late sends": "a requester that sends late",
}


# ---- sentences


def sentence(found: FoundRate) -> str:
    """Return what was found of a stack in a setting, and what limits it."""
    return f"{found.stack_label}: {_sentence(found)}"


def _sentence(found: FoundRate) -> str:
    if found.invalid:
        return f"{', '.join(found.invalid)} failed at rates that it tried: what it found is invalid."
    if found.rate_per_s is None:
        return f"no search ended ({quantities.listed(list(dict.fromkeys(s.why_none for s in found.searches)))})."
    ended, rate = len(found.ended), format_rate(found.rate_per_s)
    counted = quantities.count(ended, "search", "searches")
    without = len(found.searches) - ended
    lost = f", and {without} without a result" if without else ""
    if found.side == "below":
        counted = _of(sum(search.is_below for search in found.ended), counted, ended)
        text = f"{found.goals} does not hold at {rate}, the lowest rate tried: below {rate} ({counted}{lost})"
    elif found.side == "at least":
        counted = _of(sum(search.is_at_least for search in found.ended), counted, ended)
        return f"{found.goals} holds at {rate}, the highest rate tried: at least {rate} ({counted}{lost})."
    else:
        text = f"{found.goals} holds up to {rate} ({interval_text(found)}; {counted}{_range(found)}{lost})"
    if found.limit is None:
        return f"{text}."
    may = ": its responder may do more, which this requester cannot tell" if found.is_requesters else ""
    return f"{text}; {'there' if found.side else 'above that'} {_limits(found)}{may}."


def _of(number: int, counted: str, ended: int) -> str:
    """`5 searches`, or `3 of 5 searches` where the others found something else."""
    return counted if number == ended else f"{number} of {counted}"


def _range(found: FoundRate) -> str:
    """What the searches found where they disagree by more than the interval says."""
    rates = sorted(search.held_per_s or 0.0 for search in found.ended)
    if found.interval is None or (found.interval[0] <= rates[0] and rates[-1] <= found.interval[1]):
        return ""
    return f", which found {format_rate(rates[0])} to {format_rate(rates[-1])}"


def _limits(found: FoundRate) -> str:
    within = "and those that are sent are answered within the goal"
    if found.limit == "in flight":
        return f"requests wait to be sent while as many are in flight as may be (`concurrency`), {within}"
    if found.limit == "late sends":
        return f"the requester sends late, {within}"
    return limit_in_words(found.limit, found.responder_cpu, found.requester_cpu, is_busy=found.is_busy)


def interval_text(found: FoundRate) -> str:
    """The interval in running text, or why there is none."""
    if found.interval is None:
        return f"no interval: {why_no_interval(found)}"
    low, high = (quantities.rate(bound) for bound in found.interval)
    return f"95 % interval {low} to {high}/s"


def _ratio(comparison: RateComparison) -> str:
    """A ratio; where it is known from one side alone, that side of its interval."""
    if comparison.bound and comparison.interval is not None:
        return f"{comparison.bound} {change(comparison.interval[comparison.bound == 'at most'])}"
    return change(comparison.ratio or 0.0)


# ---- tables


def row(found: FoundRate, comparisons: Sequence[RateComparison]) -> tuple[str, ...]:
    """The row of a found rate below `HEADS`; `comparisons` may be of others, too."""
    rate = "-" if found.rate_per_s is None else format_rate(found.rate_per_s)
    side = {"below": "below ", "at least": "at least ", "": ""}[found.side]
    interval = "-" if found.interval is None else " to ".join(quantities.rate(bound) for bound in found.interval)
    against = [_against(c) for c in comparisons if c.cell == found.cell]
    cpu = ("-" if share is None else quantities.percent(share) for share in (found.requester_cpu, found.responder_cpu))
    return (found.stack_label, f"{side}{rate}", interval, "; ".join(against) or "-", *cpu, "; ".join(_remarks(found)))


def _against(comparison: RateComparison) -> str:
    if comparison.ratio is None or comparison.standing == "cannot tell":
        return "insufficient data"  # a ratio of rates that are known from one side alone says nothing
    is_whole = comparison.interval is not None and not comparison.bound
    bounds = f" ({change_span(comparison.interval)})" if is_whole and comparison.interval else ""
    return f"{_ratio(comparison)}{bounds}"


def _remarks(found: FoundRate) -> Iterator[str]:
    if found.invalid:
        yield f"invalid: {', '.join(found.invalid)} failed"
    if found.is_requesters:
        yield "the requester's limit"
    if found.interval is None and why_no_interval(found) and not found.side:
        yield f"no interval: {why_no_interval(found)}"
    if without := len(found.searches) - len(found.ended):
        yield f"{quantities.count(without, 'search', 'searches')} without a result"


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each setting and its goals."""
    capacity = QUESTION.of(summary)
    groups = groupby(capacity.rates, key=attrgetter("setting", "goals"))
    return tuple(_table(setting, goals, list(rates), capacity) for (setting, goals), rates in groups)


def _table(setting: str, goals: str, rates: Sequence[FoundRate], capacity: Capacity) -> Table:
    rows = [row(found, capacity.comparisons) for found in rates]
    table = text_table(f"highest rate while {goals} · {setting}", HEADS, rows, (NOTES,), texts=1)
    shown = []
    for line, found in zip(table.rows, rates, strict=True):
        first, *rest = line.entries
        shown.append(replace(line, entries=(replace(first, value=found.rate_per_s), *rest)))
    return replace(table, rows=tuple(shown))


PATH_HEADS = ("search", "found", "rates tried, in order")


def path(search: Search) -> tuple[str, str, str]:
    """One search as a row: which repeat, what it found, and each rate with its figures."""
    if search.why_none:
        what = f"nothing: {search.why_none}"
    elif search.held_per_s is None:
        what = f"below {format_rate(search.probes[-1].rate_per_s)}"
    else:
        what = ("at least " if search.missed_per_s is None else "") + format_rate(search.held_per_s)
    return str(search.repeat + 1), what, "; ".join(_step(probe) for probe in search.probes)


def _step(probe: ProbeSummary) -> str:
    text = f"{format_rate(probe.rate_per_s)} {probe.verdict}"
    return f"{text} ({reason})" if (reason := why_not(probe)) else f"{text} ({figures(probe)})"
