"""What was found of rates, in words and as the rows of a table, for terminal, report and sentences alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from orchestrator.analysis import words
from orchestrator.analysis.found_rates import Bound, FoundRate, ProbeSummary, RateComparison, Search
from orchestrator.analysis.probes import Reading
from orchestrator.analysis.saturation import limit_in_words
from orchestrator.analysis.terms import Interval
from orchestrator.experiment.model.goal import ERRORS, Goal
from orchestrator.experiment.plan.find import Find
from orchestrator.experiment.read.units import format_rate
from orchestrator.results.manifest import TrialRecord

HEADS = (
    "stack",
    "highest rate",
    "95 % interval",
    "against the reference",
    "requester CPU",
    "responder CPU",
    "",
)
NOTES = (
    "The highest rate is the median over searches, each of which bisects the rates tried; CPU is of one core, at the rates"
    " just above it. A ratio above 1 is a higher rate than the reference's. -: not known."
)


# ---- why a goal did not hold


def why_not(find: Find, reading: Reading | None, record: TrialRecord) -> str:
    """Why goals did not hold in a trial, as a clause; empty where they did."""
    if record.failure is not None:
        return f"the trial failed ({record.failure.kind})"
    if reading is None:
        return "no request was sent"
    clauses = []
    if not reading.is_offered:
        sent = min(reading.offered, reading.requests / max(1, reading.requests + reading.not_sent))
        why = next((text for r in record.requesters if (text := words.not_sent(r.done))), "")
        clauses.append(f"only {words.percent(sent)} of the rate was sent" + (f" ({why})" if why else ""))
    clauses += [f"{_figure(goal, reading.figures[goal.statistic])}" for goal in reading.missed(find)]
    return ", ".join(clauses)


def _figure(goal: Goal, figure: float | None) -> str:
    if figure is None:
        return f"{goal.statistic} lies among requests without a right reply, or never sent"
    value = words.percent(figure) if goal.statistic == ERRORS else words.ms(figure)
    return f"{goal.statistic} {value}"


def figures(probe: ProbeSummary) -> str:
    """What a trial's goals were measured by: `p99 8.41 ms, errors 0.2 %`."""
    shown = (
        f"{name} {'beyond every reply' if value is None else words.percent(value) if name == ERRORS else words.ms(value)}"
        for name, value in probe.figures.items()
    )
    return ", ".join(shown)


# ---- why there is no interval


def ended_outside(outside: int, ended: int) -> str:
    """Why searches that ended at an end of the rates tried give no interval, as a clause."""
    return f"{outside} of {words.count(ended, 'search', 'searches')} ended outside of the rates tried"


def no_interval(found: FoundRate, reference: FoundRate, shared: int) -> str:
    """Why two rates are not compared, as a clause."""
    invalid = [f"{side.stack_label} failed {', '.join(side.invalid)}" for side in (found, reference) if side.invalid]
    if invalid:
        return "; ".join(invalid)
    if not shared:
        return "no repeat has a search of both that ended"
    return f"{shared} of at least 3 repeats that an interval needs"


def one_sided(found: FoundRate, reference: FoundRate) -> str:
    """Why a rate that is known from one side alone decides nothing, as a clause."""
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


def bounded(bound: Bound, interval: Interval, why: str) -> str:
    """Why a ratio of which one side is known from one side alone is told all the same, as a clause."""
    return f"{bound} {words.factor(interval[bound == 'at most'])} times as much, as {why}"


# ---- sentences


def said(found: FoundRate) -> FoundRate:
    """The same with its sentence."""
    return replace(found, sentence=f"{found.stack_label}: {_sentence(found)}")


def _sentence(found: FoundRate) -> str:
    if found.invalid:
        return f"{', '.join(found.invalid)} failed at rates that it tried: what it found is invalid."
    if found.rate_per_s is None:
        return f"no search ended ({words.listed(list(dict.fromkeys(s.why_none for s in found.searches)))})."
    ended, rate = len(found.ended), format_rate(found.rate_per_s)
    counted = words.count(ended, "search", "searches")
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
        return f"no interval: {found.why_no_interval}"
    low, high = (words.rate(bound) for bound in found.interval)
    return f"95 % interval {low} to {high}/s"


def verdicts(found: Sequence[FoundRate], comparisons: Sequence[RateComparison]) -> tuple[str, ...]:
    """For each setting the rates, highest first, and how they compare; then a sentence on each rate."""
    answers = []
    for (setting, goals), of in groupby(found, key=lambda one: (one.setting, one.goals)):
        members = [one for one in of if not one.is_control]
        hold = "hold" if " and " in goals else "holds"
        rates = words.listed([_brief(one) for one in _highest_first(members)])
        lead = f"{setting}: the highest rate at which {goals} {hold} is {rates}"
        here = [c for c in comparisons if c.setting == setting and not c.is_control]
        answers.append("; ".join((lead, *_compared(here))) + ".")
    return (*answers, *(one.sentence for one in found))


def _highest_first(found: Sequence[FoundRate]) -> list[FoundRate]:
    def key(one: FoundRate) -> tuple[float, bool]:
        return (one.rate_per_s or 0.0, one.side != "below")

    return sorted(found, key=key, reverse=True)


def _brief(found: FoundRate) -> str:
    if found.invalid:
        return f"invalid with {found.stack_label}"
    if found.rate_per_s is None:
        return f"not known with {found.stack_label}"
    side = {"below": "below ", "at least": "at least ", "": ""}[found.side]
    own = " (the requester's limit)" if found.is_requesters else ""
    return f"{side}{format_rate(found.rate_per_s)} with {found.stack_label}{own}"


def _compared(comparisons: Sequence[RateComparison]) -> Iterator[str]:
    for comparison in comparisons:
        reference = comparison.reference_label
        if comparison.standing in ("more", "less") and comparison.ratio is not None:
            yield f"{comparison.label} answers {_times(comparison)} as {reference}{_ratio_interval(comparison)}"
        elif comparison.standing == "tie":
            yield f"a tie of {comparison.label} with {reference}: {comparison.why}"
        elif comparison.standing == "not resolved":
            yield f"not resolved how {comparison.label} compares with {reference}: {comparison.why}"
        else:
            yield f"cannot tell how {comparison.label} compares with {reference}: {comparison.why}"


def _times(comparison: RateComparison) -> str:
    return f"{_ratio(comparison)} times as many a second"


def _ratio(comparison: RateComparison) -> str:
    """A ratio; where it is known from one side alone, that side of its interval."""
    if comparison.bound and comparison.interval is not None:
        return f"{comparison.bound} {words.factor(comparison.interval[comparison.bound == 'at most'])}"
    return words.factor(comparison.ratio or 0.0)


def _ratio_interval(comparison: RateComparison) -> str:
    if comparison.interval is None:
        return ""
    if comparison.bound:
        return " (95 % confidence)"
    low, high = words.bounds(comparison.interval)
    return f" (95 % interval {low} to {high})"


# ---- tables


def row(found: FoundRate, comparisons: Sequence[RateComparison]) -> tuple[str, ...]:
    """The row of a found rate below `HEADS`; `comparisons` may be of others, too."""
    rate = "-" if found.rate_per_s is None else format_rate(found.rate_per_s)
    side = {"below": "below ", "at least": "at least ", "": ""}[found.side]
    interval = "-" if found.interval is None else " to ".join(words.rate(bound) for bound in found.interval)
    against = [_against(c) for c in comparisons if c.cell == found.cell]
    cpu = ("-" if share is None else words.percent(share) for share in (found.requester_cpu, found.responder_cpu))
    return (found.stack_label, f"{side}{rate}", interval, "; ".join(against) or "-", *cpu, "; ".join(_remarks(found)))


def _against(comparison: RateComparison) -> str:
    if comparison.ratio is None or comparison.standing == "cannot tell":
        return comparison.standing  # a ratio of rates that are known from one side alone says nothing
    is_whole = comparison.interval is not None and not comparison.bound
    bounds = " ({} to {})".format(*words.bounds(comparison.interval)) if is_whole and comparison.interval else ""
    return f"{comparison.standing}, {_ratio(comparison)}×{bounds}"


def _remarks(found: FoundRate) -> Iterator[str]:
    if found.invalid:
        yield f"invalid: {', '.join(found.invalid)} failed"
    if found.is_requesters:
        yield "the requester's limit"
    if found.interval is None and found.why_no_interval and not found.side:
        yield f"no interval: {found.why_no_interval}"
    if without := len(found.searches) - len(found.ended):
        yield f"{words.count(without, 'search', 'searches')} without a result"


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
    return f"{text} ({probe.why})" if probe.why else f"{text} ({figures(probe)})"
