"""The highest rates in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from orchestrator import quantities
from orchestrator.experiment.read.units import format_rate
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.find import QUESTION, Capacity, FoundRate, RateComparison
from orchestrator.questions.saturation.words import LIMITS
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.wording.phrasing import change, change_span
from orchestrator.wording.tables.table import Table, text_table

HEADS = ("stack", "highest rate", "95 % interval", "against the reference", "client CPU", "server CPU", "remarks")
NOTES = (
    "The highest rate is the median over searches; each bisects the rates tried; CPU is of one core, at the rates"
    " just above it. Differences are to the reference's rate. -: not known."
)


def _no_interval(rate: FoundRate) -> str:
    outside = sum(search.is_below or search.is_at_least for search in rate.ended)
    beyond = f"{outside} of {len(rate.ended)} searches ended beyond the rates tried"
    return f"no interval: {beyond if outside else f'fewer than {FEWEST_BLOCKS} searches'}"


def row(rate: FoundRate, comparisons: Sequence[RateComparison]) -> tuple[str, ...]:
    """Return the row of a rate below `HEADS`; `comparisons` may be of others, too."""
    text = "-" if rate.rate_per_s is None else format_rate(rate.rate_per_s)
    side = {"below": "below ", "at least": "at least ", "": ""}[rate.side]
    interval = "-" if rate.interval is None else " to ".join(quantities.rate(bound) for bound in rate.interval)
    against = [_against(c) for c in comparisons if c.cell == rate.cell]
    cpu = ("-" if share is None else quantities.percent(share) for share in (rate.requester_cpu, rate.responder_cpu))
    return (rate.stack_label, f"{side}{text}", interval, "; ".join(against) or "-", *cpu, "; ".join(_remarks(rate)))


def _against(comparison: RateComparison) -> str:
    if comparison.ratio is None or comparison.standing == "cannot tell":
        return "insufficient data"  # a ratio of rates that are known from one side alone says nothing
    if comparison.bound:
        low, high = comparison.interval or (0.0, 0.0)
        return f"{comparison.bound} {change(high if comparison.bound == 'at most' else low)}"
    return change(comparison.ratio) + (f" ({change_span(comparison.interval)})" if comparison.interval else "")


def _remarks(rate: FoundRate) -> Iterator[str]:
    if rate.invalid:
        yield f"invalid: {', '.join(rate.invalid)} failed"
    if rate.limit is not None:
        may = ": the responder may do more" if rate.is_requesters else ""
        yield f"{LIMITS[rate.limit]}{may}"
    if rate.interval is None and not rate.side:
        yield _no_interval(rate)
    if without := len(rate.searches) - len(rate.ended):
        yield f"{quantities.count(without, 'search', 'searches')} without a result"


def by_setting(capacity: Capacity) -> list[tuple[str, str, list[FoundRate]]]:
    """Return the rates by what they have in common: the setting and the goals."""
    groups = groupby(capacity.rates, key=attrgetter("setting", "goals"))
    return [(setting, goals, list(rates)) for (setting, goals), rates in groups]


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each setting and its goals."""
    capacity = QUESTION.of(summary)
    return tuple(_table(*group, capacity) for group in by_setting(capacity))


def _table(setting: str, goals: str, rates: Sequence[FoundRate], capacity: Capacity) -> Table:
    rows = [row(rate, capacity.comparisons) for rate in rates]
    table = text_table(f"highest rate while {goals} · {setting}", HEADS, rows, (NOTES,), texts=1)
    shown = [
        replace(line, entries=(replace(line.entries[0], value=rate.rate_per_s), *line.entries[1:]))
        for line, rate in zip(table.rows, rates, strict=True)
    ]
    return replace(table, rows=tuple(shown))
