"""The highest rates at which goals hold: of each search, the median over repeats with its interval, comparisons.

Each repeat is a search, and gives one rate: so the repeat is the replicate, as the trial is elsewhere. A search ends
between two neighbouring rates, one at which the goals held and one at which they did not. Its value for statistics is
their geometric mean, and every interval is widened by what the rates between two steps leave unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import comb, sqrt
from statistics import median_low
from typing import Literal

import numpy as np

from orchestrator.evidence.run_evidence import RunEvidence, TrialEvidence
from orchestrator.evidence.searched import searches
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.loads import at_step, next_step, search_bounds
from orchestrator.experiment.plan.plan import Cell, Find, Plan
from orchestrator.findings import naming
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.limits import Limit, limiting_end, mean_of, responder_cpu
from orchestrator.findings.summary import CellSummary
from orchestrator.findings.validity import failed_in
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.capacity.observe import NAME, Waited
from orchestrator.questions.saturation.find import is_beyond_capacity
from orchestrator.results.manifest import Manifest, TrialRecord
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.intervals import ALPHA, LogMean
from orchestrator.statistics.terms import Interval

Side = Literal["", "below", "at least"]
"""Of a rate found: it is that one, one below the lowest that was tried, or at least the highest."""
RateStanding = Literal["more", "less", "tie", "not resolved", "cannot tell"]
Bound = Literal["", "at least", "at most"]
RateLimit = Limit | Literal["in flight", "late sends"]
NoResult = Literal["", "a trial failed", "the run was cut"]


@dataclass(frozen=True, kw_only=True)
class Search:
    """One repeat of a search: between which two rates it ended.

    `held_per_s` is the highest rate at which the goals held (None: not at the lowest), `missed_per_s` the lowest at which
    they did not (None: they held at the highest). Where it has no result, `why_none` says why, and both are None.
    """

    repeat: int
    held_per_s: float | None
    missed_per_s: float | None
    why_none: NoResult = ""

    @property
    def is_below(self) -> bool:
        """Return whether the goals held at no rate."""
        return not self.why_none and self.held_per_s is None

    @property
    def is_at_least(self) -> bool:
        """Return whether the goals held at the highest rate."""
        return not self.why_none and self.missed_per_s is None and self.held_per_s is not None


@dataclass(frozen=True, kw_only=True)
class FoundRate:
    """The highest rate of a cell at which its goals hold.

    `rate_per_s` is the median over searches: with `side` `below` it is the lowest rate tried, with `at least` the highest;
    None without a search that ended. `limit` is what limits at the rates just above, and the CPU shares are those there.
    With `invalid` (names of checks that failed) none of it is to be relied on.
    """

    cell: str
    stack: str
    stack_label: str
    setting: str
    goals: str  # `p99 < 10 ms`
    factor: float  # a rate over the next lower one
    searches: tuple[Search, ...]
    rate_per_s: float | None
    side: Side
    interval: Interval | None
    limit: RateLimit | None
    requester_cpu: float | None
    responder_cpu: float | None
    is_control: bool = False
    invalid: tuple[str, ...] = ()

    @property
    def is_requesters(self) -> bool:
        """Return whether the requester limits, so that the responder may do more."""
        return self.limit in ("requester", "in flight", "late sends")

    @property
    def ended(self) -> tuple[Search, ...]:
        """Return the searches with a result."""
        return tuple(search for search in self.searches if not search.why_none)


@dataclass(frozen=True, kw_only=True)
class RateComparison:
    """A rate over that of the reference; `ratio` above 1 is the higher rate.

    `interval` and `p_value` are Holm-adjusted over all comparisons of rates of the run (a control's are its own), and the
    interval is wider by one step of the rates to either side. `by_search` is each repeat's ratio. With `bound` one of the
    rates is known from one side alone, and so is the ratio.
    """

    cell: str
    reference_cell: str
    setting: str
    label: str
    reference_label: str
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    by_search: tuple[float, ...]
    standing: RateStanding
    is_control: bool = False
    bound: Bound = ""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The rates that searches found, setting by setting, and their comparisons; `margin` is what does not matter."""

    rates: tuple[FoundRate, ...] = ()
    comparisons: tuple[RateComparison, ...] = ()
    margin: float = 0.05


_STANDINGS: Mapping[str, RateStanding] = {
    "faster": "less",
    "slower": "more",
    "tie": "tie",
    "not resolved": "not resolved",
}
_BOUNDS: Mapping[str, Bound] = {"more": "at least", "less": "at most"}


def found_rates(
    plan: Plan, manifest: Manifest, evidence: RunEvidence, cells: Sequence[CellSummary], checks: Sequence[CheckResult]
) -> tuple[FoundRate, ...]:
    """Return the rate of each cell of `plan` (as it was planned), setting by setting, invalid ones last.

    `evidence`, `cells` and `checks` are of the rates tried.
    """
    records = searches(plan, manifest)
    trials = {trial.record.index: trial for cell in evidence.cells for trial in cell.trials}
    rates = []
    for cell in plan.cells:
        repeats = sorted((repeat, trials) for (name, repeat), trials in records.items() if name == cell.id)
        if cell.find is not None and repeats:
            results = tuple(_search(cell.find, repeat, probes) for repeat, probes in repeats)
            decisive = [
                trials.get(record.index)
                for (_, probes), search in zip(repeats, results, strict=True)
                for record in probes
                if record.probe is not None and record.probe.rate_per_s == search.missed_per_s
            ]
            steps = {record.probe.step for _, probes in repeats for record in probes if record.probe is not None}
            ids = sorted(at_step(cell, step).id for step in steps)
            rates.append(_rate(plan, cell, cell.find, results, decisive, [c for c in cells if c.id in ids], checks))
    settings = {cell.id: (cell.setting, cell.find) for cell in plan.cells}
    order = list(dict.fromkeys(settings[rate.cell] for rate in rates))
    return tuple(sorted(rates, key=lambda rate: (order.index(settings[rate.cell]), bool(rate.invalid))))


# ---- one cell


def _rate(
    plan: Plan,
    cell: Cell,
    find: Find,
    results: tuple[Search, ...],
    decisive: Sequence[TrialEvidence | None],
    tried: Sequence[CellSummary],
    checks: Sequence[CheckResult],
) -> FoundRate:
    """The rate of a cell; `tried` are the cells of the rates tried, `decisive` the trials just above its rate."""
    known = [trial.summary if trial else None for trial in decisive]
    requester = mean_of(trial.cpu_share if trial else None for trial in known)
    responder = mean_of(responder_cpu(trial) if trial else None for trial in known)
    readings = [trial.whole.get(NAME) for trial in decisive if trial and trial.summary]
    waited = [reading.waited(find) for reading in readings if reading]
    rate, side = median_of(find, results)
    serious = [check for check in checks if not is_beyond_capacity(check)]
    most = "" if find.concurrency is None else f", at most {find.concurrency:,} in flight"
    ids = sorted(summary.id for summary in tried)
    return FoundRate(
        cell=cell.id,
        stack=cell.stack,
        stack_label=tried[0].labels.stack,
        setting=naming.without("rate", tried[0]) + most,
        goals=find.text,
        factor=find.factor,
        searches=results,
        rate_per_s=rate,
        side=side,
        interval=interval_of(find, results),
        limit=_limit(limiting_end(responder, requester), waited, len(decisive)) if decisive else None,
        requester_cpu=requester,
        responder_cpu=responder,
        is_control=any(stack.id == cell.stack and stack.control_of for stack in plan.stacks),
        invalid=tuple(dict.fromkeys(name for each in ids for name in failed_in(each, serious))),
    )


def _limit(by_cpu: Limit, waited: Sequence[Waited], decisive: int) -> RateLimit:
    """The end whose CPU is busy; else where most of the trials missed their goals by requests that waited to be sent."""
    late = [where for where in waited if where]
    if by_cpu not in ("neither", "unknown") or 2 * len(late) <= decisive:
        return by_cpu
    return "in flight" if 2 * late.count("in flight") >= len(late) else "late sends"


def _search(find: Find, repeat: int, records: Sequence[TrialRecord]) -> Search:
    verdicts = [record.probe.verdict for record in records if record.probe is not None]
    held = [verdict == "held" for verdict in verdicts]
    why_none: NoResult = "a trial failed" if "no result" in verdicts else ""
    if not why_none and next_step(find, held) is not None:
        why_none = "the run was cut"
    low, high = (-1, find.steps + 1) if why_none else search_bounds(find, held)
    return Search(
        repeat=repeat,
        held_per_s=None if low < 0 else find.rate(low),
        missed_per_s=None if high > find.steps else find.rate(high),
        why_none=why_none,
    )


def median_of(find: Find, results: Sequence[Search]) -> tuple[float | None, Side]:
    """Return the median over searches, a rate that was tried: of an even number the lower of the two in the middle."""
    rates = [search.held_per_s or 0.0 for search in results if not search.why_none]
    if not rates:
        return None, ""
    middle = median_low(rates)
    return (middle, "at least" if middle == find.highest else "") if middle else (find.lowest, "below")


def interval_of(find: Find, results: Sequence[Search]) -> Interval | None:
    """Return the t-interval of the searches' logs, wider by half a step to either side; None where one ended outside.

    The rate that is shown is a median, and searches that missed by chance lie on one side of it. So with six searches or
    more the interval reaches to that of the median by ranks (Conover 1999, section 3.2), which needs no symmetry.
    """
    ended = [search for search in results if not search.why_none]
    if len(ended) < intervals.FEWEST_BLOCKS or any(search.is_below or search.is_at_least for search in ended):
        return None
    values = sorted(_value(find, search) for search in ended)
    interval = intervals.of_trials(values).interval()
    if interval is not None and (place := _place_of_interval(len(values))) is not None:
        interval = min(interval[0], values[place]), max(interval[1], values[-1 - place])
    return interval and (interval[0] / sqrt(find.factor), interval[1] * sqrt(find.factor))


def _place_of_interval(n: int) -> int | None:
    """From which place on of n sorted values to the same from the other end the median lies at 95 %; None with too few."""
    allowed, outside, place = intervals.ALPHA * 2.0**n / 2, 0, None
    for number in range(n // 2):
        outside += comb(n, number)
        if outside > allowed:
            break
        place = number
    return place


def _value(find: Find, search: Search) -> float:
    """The middle of a search's two rates; of one that ended outside, half a step beyond the last rate."""
    half = sqrt(find.factor)
    held = search.held_per_s or find.lowest / find.factor
    return held * half if search.missed_per_s is None else sqrt(held * search.missed_per_s)


# ---- comparisons


def compare_rates(plan: Plan, rates: Sequence[FoundRate]) -> tuple[RateComparison, ...]:
    """Return every pair of cells that the plan compares, by their rates; Holm over all of them, controls last.

    What ended outside of the rates tried, or was limited by the requester, bounds the other side's rate from one side only:
    its standing is more, less, or that it cannot be told.
    """
    by_cell = {rate.cell: rate for rate in rates}
    finds = {cell.id: cell.find for cell in plan.cells if cell.find is not None}
    planned = [pair for pair in contrasts.pairs(plan) if {pair.cell.id, pair.reference.id} <= by_cell.keys()]
    pairs = [_unjudged(pair, by_cell[pair.cell.id], by_cell[pair.reference.id], finds) for pair in planned]
    logs = [intervals.log_mean(np.log(pair.by_search)) if pair.by_search else None for pair in pairs]
    results = intervals.moderated_by_place([pair.cell.placement for pair in planned], logs)
    settings = [pair.reference.setting for pair in planned]
    envelopes: dict[tuple[object, ...], float] = {}
    for setting, pair, result in zip(settings, pairs, results, strict=True):
        if pair.is_control and result is not None:
            envelopes[setting] = max(envelopes.get(setting, 0.0), abs(result.mean))
    compared = [r for pair, r in zip(pairs, results, strict=True) if r is not None and not pair.is_control]
    values = [result.p_value for result in compared if result.p_value is not None]
    family = zip(intervals.holm(values), intervals.holm_levels(values), strict=True)
    return tuple(
        _judged(
            pair,
            (by_cell[pair.cell], by_cell[pair.reference_cell]),
            result,
            family,
            envelopes.get(setting, 0.0),
            plan.matters,
        )
        for setting, pair, result in zip(settings, pairs, results, strict=True)
    )


def _unjudged(pair: contrasts.Pair, rate: FoundRate, reference: FoundRate, finds: Mapping[str, Find]) -> RateComparison:
    """A rate beside its reference's, and how each compares in the repeats in which both searches ended."""
    mine, theirs = (
        {search.repeat: _value(finds[side.cell], search) for search in side.ended} for side in (rate, reference)
    )
    shared = [] if rate.invalid or reference.invalid else sorted(mine.keys() & theirs.keys())
    own, other = (
        "" if pair.factor == STACK else f" {BY_NAME[pair.factor].compared(cell.factors[pair.factor])}"
        for cell in (pair.cell, pair.reference)
    )
    return RateComparison(
        cell=rate.cell,
        reference_cell=reference.cell,
        setting=rate.setting,
        label=f"{rate.stack_label}{own}",
        reference_label=f"{reference.stack_label}{other}",
        ratio=None,
        interval=None,
        p_value=None,
        by_search=tuple(mine[repeat] / theirs[repeat] for repeat in shared),
        standing="cannot tell",
        is_control=pair.is_control,
    )


def _judged(
    pair: RateComparison,
    rates: tuple[FoundRate, FoundRate],
    result: LogMean | None,
    family: Iterator[tuple[float, float]],
    envelope: float,
    margin: float,
) -> RateComparison:
    if result is None:
        return pair
    p_value, level = result.p_value, ALPHA
    if p_value is not None and not pair.is_control:
        p_value, level = next(family)
    else:
        envelope = 0.0
    interval = result.interval(level)
    if interval is None:
        return replace(pair, ratio=result.ratio, p_value=p_value)
    factor = max(rate.factor for rate in rates)
    interval = interval[0] / factor, interval[1] * factor
    standing = _STANDINGS.get(equivalence.standing(interval, margin, envelope=envelope), "cannot tell")
    allowed = _allowed(*rates)
    if standing not in allowed:
        return pair
    bound = _BOUNDS[standing] if len(allowed) < len(_STANDINGS) else ""
    return replace(pair, ratio=result.ratio, interval=interval, p_value=p_value, standing=standing, bound=bound)


def _allowed(rate: FoundRate, reference: FoundRate) -> Set[str]:
    """The standings of two rates that are possible where one is known from one side alone."""
    allowed: Set[str] = frozenset(_STANDINGS.values())
    for side, at_least, at_most in ((rate, "more", "less"), (reference, "less", "more")):
        if side.is_requesters or any(search.is_at_least for search in side.searches):
            allowed = allowed & {at_least}
        if any(search.is_below for search in side.searches):
            allowed = allowed & {at_most}
    return allowed


def _find(basis: Basis) -> Capacity:
    summary = basis.summary
    rates = found_rates(summary.plan, basis.run.manifest(), basis.evidence, summary.cells, summary.checks)
    return Capacity(rates=rates, comparisons=compare_rates(summary.plan, rates), margin=summary.matters)


QUESTION = Question(
    name="capacity", type=Capacity, empty=Capacity(), find=_find, applies=lambda plan: not is_no_search(plan)
)
