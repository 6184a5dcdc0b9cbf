"""Questions other than which is fastest: up to which rate goals hold, whose the spread is, which latency varies least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.findings.trial_values import SPREADS, SpreadName
from orchestrator.questions.capacity.find import Capacity, FoundRate, RateComparison
from orchestrator.questions.languages.find import QUESTION as LANGUAGES
from orchestrator.questions.languages.words import sentence as of_languages
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.questions.stability.find import Least, least
from orchestrator.questions.stalls.find import Stall
from orchestrator.wording.phrasing import Line, change, change_span, fitting, named, scale_for, some
from orchestrator.wording.tables import evolution


def own(summary: RunSummary) -> str:
    """Return the answer to a question that has a sentence of its own; empty of any other question."""
    every = (*map(of_languages, LANGUAGES.of(summary)), *steadiest(summary), evolution.sentence(summary.cells))
    return next(filter(None, every), "")


# ---- which latency varies least


def steadiest(summary: RunSummary) -> list[str]:
    """Return for each setting which stack's latency varies least by each spread."""
    cells = {cell.id: cell for cell in summary.cells}
    settings: dict[tuple[object, ...], list[Comparison]] = {}
    for comparison in STABILITY.of(summary):
        if comparison.factor == STACK and not comparison.control:
            settings.setdefault(cells[comparison.reference_cell].apart_from(STACK), []).append(comparison)
    return [_of_stacks(least(members, cells), cells) for members in settings.values()]


def _of_stacks(spreads: Sequence[Least], cells: Mapping[str, CellSummary]) -> str:
    """Which one varies least: `that of grpc by SD (34.8 µs); none significantly by IQR`."""
    winners: dict[str, list[str]] = {}
    for spread in spreads:
        cell = cells[spread.cells[0]]
        is_one = len(spread.cells) == 1
        by = f"{SPREADS[spread.by]}{_value(cell, spread.by) if is_one else ''}"
        winners.setdefault(f"that of {cell.labels.stack}" if is_one else "none significantly", []).append(by)
    clauses = [f"{name} by {quantities.listed(by)}" for name, by in winners.items()]
    return f"The latency that varies least: {'; '.join(clauses)}." if clauses else ""


def _value(cell: CellSummary, name: SpreadName) -> str:
    """` (24.1 µs)`; of a multiple of the median ` (1.32)`."""
    spread = cell.means.get(name)
    if spread is None:
        return ""
    return f" ({quantities.ms(spread.value) if name in ('sd', 'iqr') else quantities.factor(spread.value)})"


# ---- found rates


def of_rates(capacity: Capacity) -> list[Line]:
    """Up to which rate each kept its goals, the goals, and from how many searches."""
    rates = [rate for rate in capacity.rates if not rate.invalid]
    lines = [Line("Highest rate", _highest(rates))]
    if rates:
        lines.append(Line("Goals", _goals(rates)))
    text = _searches(rates, capacity.comparisons)
    return [*lines, *([Line("Certainty", text)] if text else [])]


def _highest(rates: Sequence[FoundRate]) -> str:
    """The rate of each, highest first; of several settings which is best in the most."""
    known = [rate for rate in rates if rate.rate_per_s is not None and not rate.is_control]
    if not known:
        return "no search found a rate at which the goals hold."
    settings = list(dict.fromkeys((rate.setting, rate.goals) for rate in known))
    if len(settings) > 1:
        return _of_settings(known, settings)
    ordered = sorted(known, key=lambda rate: -(rate.rate_per_s or 0.0))
    return f"{some([f'{named(rate.stack_label)} {_rate(rate)}' for rate in ordered], 6)}."


def _of_settings(known: Sequence[FoundRate], settings: Sequence[tuple[str, str]]) -> str:
    best: dict[str, int] = {}
    for setting in settings:
        highest = max((r for r in known if (r.setting, r.goals) == setting), key=lambda r: r.rate_per_s or 0.0)
        best[highest.stack_label] = best.get(highest.stack_label, 0) + 1
    clauses = [f"{named(label)} in {count}" for label, count in sorted(best.items(), key=lambda pair: -pair[1])]
    return fitting(f"of {len(settings)} settings, {some(clauses)}.", f"see {len(settings)} settings.")


def _rate(rate: FoundRate) -> str:
    side = {"at least": "at least ", "below": "below "}.get(str(rate.side), "")
    return f"{side}{quantities.rate(rate.rate_per_s or 0.0)}/s"


def _goals(rates: Sequence[FoundRate]) -> str:
    text = some(list(dict.fromkeys(rate.goals for rate in rates)), 2)
    if limited := list(dict.fromkeys(rate.stack_label for rate in rates if rate.is_requesters)):
        text += f"; the client or its limits are the bottleneck of {some(limited, 3)}: the server may do more"
    return f"{text}."


def _searches(rates: Sequence[FoundRate], compared: Sequence[RateComparison]) -> str:
    searches = [len(rate.ended) for rate in rates]
    if not searches:
        return ""
    low, high = min(searches), max(searches)
    text = f"{low if low == high else f'{low} to {high}'} searches of each"
    known = [c for c in compared if not c.is_control and c.ratio is not None and not c.bound and c.interval]
    if len(known) == 1 and known[0].ratio and known[0].interval:
        first, reference = named(known[0].label), named(known[0].reference_label)
        bounds = " to ".join(map(quantities.factor, known[0].interval))
        text += f": {first} answered {quantities.factor(known[0].ratio)} times as many as {reference} ({bounds})"
        if known[0].standing == "not resolved":
            text += ", no significant difference: measure more repeats"
    return f"{text}."


# ---- nothing to compare


def against_itself(comparisons: Sequence[Comparison]) -> str:
    """What chance alone makes of a stack that is compared with itself; empty of other runs."""
    controls = [c for c in comparisons if c.control and c.measured_ratio is not None]
    if not controls:
        return ""
    texts = [
        change(c.measured_ratio or 1.0) + (f" ({change_span(c.measured_interval)})" if c.measured_interval else "")
        for c in controls
    ]
    return f"{named(controls[0].reference_label)} differs from itself by {some(texts)}: chance alone makes that much."


def alone(cells: Sequence[CellSummary]) -> str:
    """Of cells that nothing is compared with: what the quickest and the slowest take."""
    known = sorted(
        ((shown.median, cell) for cell in cells if (shown := cell.distribution) and shown.median is not None),
        key=lambda pair: pair[0],
    )
    if not known:
        return "too few requests got a right reply."
    low, cell = known[0]
    took = f"{named(cell.labels.stack)}, median {quantities.ms(low)}"
    if len(known) == 1:
        surely = cell.median_interval
        between = f" ({scale_for(surely).span(surely)})" if surely and not quantities.is_vague(surely) else ""
        return f"{took}{between}; nothing to compare it with."
    high, last = known[-1]
    ends = f"from {quantities.ms(low)} ({named(cell.setting)}) to {quantities.ms(high)} ({named(last.setting)})"
    stacks = list(dict.fromkeys(cell.labels.stack for _, cell in known))
    return fitting(
        f"nothing to compare; {some(stacks, 3)} took {ends}.",
        f"nothing to compare: {some(stacks, 2)} took {quantities.ms(low)} to {quantities.ms(high)}.",
    )


# ---- stalls


def of_stalls(stalls: Sequence[Stall]) -> str:
    """Return the worst stall and how many cells have another; empty without one."""
    if not stalls:
        return ""
    worst, more = stalls[0], len(stalls) - 1
    others = f"; also in {quantities.count(more, 'more row')}" if more else ""
    return (
        f"{worst.stack_label} waited up to {quantities.ms(worst.longest)} for a reply; had requests gone on at an even pace,"
        f" p99 would be {quantities.ms(worst.even_p99)} ({worst.stalled} of"
        f" {quantities.count(worst.trials, 'repeat')}{others})."
    )
