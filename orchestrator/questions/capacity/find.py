"""The highest rates at which goals hold: what each search found, the median over repeats with its interval, comparisons.

Each repeat is a search, and gives one rate: so the repeat is the replicate, as the trial is elsewhere. A search ends
between two neighbouring rates, one at which the goals held and one at which they did not. Its value for statistics is
their geometric mean, and every interval is widened by what the rates between two steps leave unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import comb, log, sqrt
from statistics import median_low
from typing import Literal

from orchestrator.evidence.run_evidence import RunEvidence, TrialEvidence
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.loads import at_step, next_step, search_bounds
from orchestrator.experiment.plan.plan import Cell, Find, Plan
from orchestrator.findings import naming, validity
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.summary import CellSummary
from orchestrator.findings.validity import failed_in
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.capacity.expand import searches
from orchestrator.questions.capacity.observe import NAME, Reading, Waited, is_offered
from orchestrator.questions.saturation.find import Limit, is_beyond_capacity, limit_of, mean_of, responder_cpu
from orchestrator.results.manifest import Manifest, TrialRecord
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.intervals import ALPHA, LogMean
from orchestrator.statistics.terms import Interval

Verdict = Literal["held", "not held", "no result"]
Side = Literal["", "below", "at least"]
"""Of a rate found: it is that one, one below the lowest that was tried, or at least the highest."""
RateStanding = Literal["more", "less", "tie", "not resolved", "cannot tell"]
Bound = Literal["", "at least", "at most"]
RateLimit = Limit | Literal["in flight", "late sends"]


@dataclass(frozen=True, kw_only=True)
class ProbeSummary:
    """One trial of a search. `figures` are the statistics that its goals bound, in ms (`errors`: a share), by name.

    A figure is None where it lies among requests without a right reply, or that were not sent. `missed`: the statistics
    whose goals did not hold. `failure`: how the trial failed, if it did.
    """

    trial: int
    block: int
    rate_per_s: float
    verdict: Verdict
    figures: dict[str, float | None]
    requests: int
    errors: int
    not_sent: int
    offered: float | None  # what was sent per second, over what was due
    requester_cpu: float | None
    responder_cpu: float | None
    waited: Waited = ""
    missed: tuple[str, ...] = ()
    failure: str = ""

    @property
    def is_offered(self) -> bool:
        """Return whether the rate was offered."""
        return is_offered(self.offered or 0.0, self.requests, self.not_sent)


@dataclass(frozen=True, kw_only=True)
class Search:
    """One repeat of a search: its trials in order, and between which two rates it ended.

    `held_per_s` is the highest rate at which the goals held (None: not at the lowest), `missed_per_s` the lowest at which
    they did not (None: they held at the highest). Where it has no result, `why_none` says why, and both are None.
    """

    repeat: int
    probes: tuple[ProbeSummary, ...]
    held_per_s: float | None
    missed_per_s: float | None
    why_none: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it found something."""
        return not self.why_none

    @property
    def is_below(self) -> bool:
        """Whether the goals held at no rate."""
        return self.is_over and self.held_per_s is None

    @property
    def is_at_least(self) -> bool:
        """Whether the goals held at the highest rate."""
        return self.is_over and self.missed_per_s is None and self.held_per_s is not None


@dataclass(frozen=True, kw_only=True)
class FoundRate:
    """The highest rate of a cell at which its goals hold.

    `rate_per_s` is the median over searches of what each found: with `side` `below` it is the lowest rate tried, with
    `at least` the highest; None without a search that ended. `interval` is the 95 % interval. `limit` is what limits at the
    rates just above (`in flight`: how many may be, `late sends`: the requester's, with the responder's CPU not known to be
    busy), and the CPU shares are those there. With `invalid` (names of checks that failed) none of it is to be relied on.
    """

    cell: str
    stack: str
    stack_label: str
    setting: str
    goals: str  # `p99 < 10 ms`
    lowest_per_s: float
    highest_per_s: float
    factor: float  # a rate over the next lower one
    searches: tuple[Search, ...]
    rate_per_s: float | None
    side: Side
    interval: Interval | None
    limit: RateLimit | None
    requester_cpu: float | None
    responder_cpu: float | None
    is_busy: bool = False
    is_control: bool = False
    invalid: tuple[str, ...] = ()

    @property
    def is_requesters(self) -> bool:
        """Whether the requester's side limits, so that the responder may do more."""
        return self.limit in ("requester", "in flight", "late sends")

    @property
    def ended(self) -> tuple[Search, ...]:
        """The searches that found something."""
        return tuple(search for search in self.searches if search.is_over)


@dataclass(frozen=True, kw_only=True)
class RateComparison:
    """A found rate over that of the reference; `ratio` above 1 is the higher rate.

    `interval` and `p_value` are Holm-adjusted over all comparisons of found rates of the run (a control's are its own), and
    the interval is wider by one step of the rates to either side. `by_search` is each repeat's ratio. With `bound` one of
    the rates is known from one side alone, and so is the ratio: `at least` the lower end of the interval, or `at most` the
    upper.
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
_UNBOUNDED: Bound = ""
_BOUNDS: Mapping[str, Bound] = {"more": "at least", "less": "at most"}


def found_rates(
    plan: Plan, manifest: Manifest, evidence: RunEvidence, cells: Sequence[CellSummary], checks: Sequence[CheckResult]
) -> tuple[FoundRate, ...]:
    """What was found of each cell of `plan` (as it was planned), setting by setting.

    `evidence`, `cells` and `checks` are of the rates tried.
    """
    made = searches(plan, manifest)
    trials = {trial.record.index: trial for cell in evidence.cells for trial in cell.trials}
    found = []
    for cell in plan.cells:
        of_cell = [(repeat, records) for (name, repeat), records in made.items() if name == cell.id]
        if cell.find is not None and of_cell:
            found.append(_found(plan, cell, cell.find, sorted(of_cell), trials, cells, checks))
    order = list(dict.fromkeys((one.setting, one.goals) for one in found))
    return tuple(sorted(found, key=lambda rate: (order.index((rate.setting, rate.goals)), bool(rate.invalid))))


# ---- one cell


def _found(
    plan: Plan,
    cell: Cell,
    find: Find,
    made: Sequence[tuple[int, Sequence[TrialRecord]]],
    trials: Mapping[int, TrialEvidence],
    cells: Sequence[CellSummary],
    checks: Sequence[CheckResult],
) -> FoundRate:
    of = tuple(_search(find, repeat, records, trials) for repeat, records in made)
    ids = {at_step(cell, record.probe.step).id for _, records in made for record in records if record.probe is not None}
    first = next(summary for summary in cells if summary.id in ids)
    decisive = [probe for search in of for probe in search.probes if probe.rate_per_s == search.missed_per_s]
    requester, responder = (
        mean_of(getattr(probe, name) for probe in decisive) for name in ("requester_cpu", "responder_cpu")
    )
    rate, side = median_of(find, of)
    interval = interval_of(find, of)
    serious = [check for check in checks if not is_beyond_capacity(check)]
    return FoundRate(
        cell=cell.id,
        stack=cell.stack,
        stack_label=first.stack_label,
        setting=naming.without("rate", first)
        + ("" if find.concurrency is None else f", at most {find.concurrency:,} in flight"),
        goals=find.text,
        lowest_per_s=find.lowest,
        highest_per_s=find.highest,
        factor=find.factor,
        searches=of,
        rate_per_s=rate,
        side=side,
        interval=interval,
        limit=_limit(decisive, responder, requester) if decisive else None,
        requester_cpu=requester,
        responder_cpu=responder,
        is_busy=bool(validity.disturbances(checks, ids)),
        is_control=any(stack.id == cell.stack and stack.control_of for stack in plan.stacks),
        invalid=tuple(dict.fromkeys(name for one in sorted(ids) for name in failed_in(one, serious))),
    )


def _limit(decisive: Sequence[ProbeSummary], responder: float | None, requester: float | None) -> RateLimit:
    """The end whose CPU is busy; else where most of the trials missed their goals by requests that waited to be sent."""
    limit: RateLimit = limit_of(responder, requester)
    waited = [probe.waited for probe in decisive if probe.waited]
    return limit if limit not in ("neither", "unknown") or 2 * len(waited) <= len(decisive) else _most_frequent(waited)


def _most_frequent(waited: Sequence[Waited]) -> RateLimit:
    return "in flight" if 2 * sum(one == "in flight" for one in waited) >= len(waited) else "late sends"


def _search(find: Find, repeat: int, records: Sequence[TrialRecord], trials: Mapping[int, TrialEvidence]) -> Search:
    probes = tuple(_probe(find, record, trials.get(record.index)) for record in records)
    held = [probe.verdict == "held" for probe in probes]
    if any(probe.verdict == "no result" for probe in probes):
        return Search(repeat=repeat, probes=probes, held_per_s=None, missed_per_s=None, why_none="a trial failed")
    if next_step(find, held) is not None:
        return Search(repeat=repeat, probes=probes, held_per_s=None, missed_per_s=None, why_none="the run was cut")
    low, high = search_bounds(find, held)
    return Search(
        repeat=repeat,
        probes=probes,
        held_per_s=None if low < 0 else find.rate(low),
        missed_per_s=None if high > find.steps else find.rate(high),
    )


def _probe(find: Find, record: TrialRecord, trial: TrialEvidence | None) -> ProbeSummary:
    assert record.probe is not None  # noqa: S101 - `searches` gives no other
    reading: Reading | None = trial.whole.get(NAME) if trial is not None else None
    summary = trial.summary if trial is not None else None
    return ProbeSummary(
        trial=record.index,
        block=record.block,
        rate_per_s=record.probe.rate_per_s,
        verdict=record.probe.verdict,
        figures={goal.statistic: reading.figures[goal.statistic] if reading else None for goal in find.goals},
        requests=reading.requests if reading else 0,
        errors=reading.failed if reading else 0,
        not_sent=reading.not_sent if reading else 0,
        offered=reading.offered if reading else None,
        waited=reading.waited(find) if reading else "",
        missed=tuple(goal.statistic for goal in reading.missed(find)) if reading else (),
        failure=record.failure.kind if record.failure else "",
        requester_cpu=summary.cpu_share if summary else None,
        responder_cpu=responder_cpu(summary) if summary else None,
    )


def _ended(of: Sequence[Search]) -> list[Search]:
    return [search for search in of if search.is_over]


def median_of(find: Find, of: Sequence[Search]) -> tuple[float | None, Side]:
    """The rate that a search found, one that was tried: of an even number the lower of the two in the middle."""
    ended = _ended(of)
    if not ended:
        return None, ""
    middle = median_low([0.0 if search.held_per_s is None else search.held_per_s for search in ended])
    if middle == 0.0:
        return find.lowest, "below"
    return middle, "at least" if middle == find.highest else ""


def interval_of(find: Find, of: Sequence[Search]) -> Interval | None:
    """The t-interval of the searches' logs, wider by half a step to either side; None where it cannot be told.

    The rate that is shown is a median, and searches that missed by chance lie on one side of it. So with six searches or
    more the interval reaches to that of the median by ranks (Conover 1999, section 3.2), which asks for no symmetry.
    """
    ended = _ended(of)
    outside = [search for search in ended if search.is_below or search.is_at_least]
    if outside:
        return None
    if len(ended) < intervals.FEWEST_BLOCKS:
        return None
    values = sorted(_value(find, search) for search in ended)
    interval = intervals.of_trials(values).interval()
    if interval is None:
        return None
    place = _place_of_interval(len(values))
    if place is not None:
        interval = min(interval[0], values[place]), max(interval[1], values[-1 - place])
    return _wider(interval, sqrt(find.factor))


def _place_of_interval(n: int) -> int | None:
    """From which place on of n sorted values to the same from the other end the median lies at 95 %; None with too few."""
    allowed, outside, place = intervals.ALPHA * 2.0**n / 2, 0, None
    for number in range(n // 2):
        outside += comb(n, number)
        if outside > allowed:
            break
        place = number
    return place


def _wider(interval: Interval, factor: float) -> Interval:
    return interval[0] / factor, interval[1] * factor


def _value(find: Find, search: Search) -> float:
    """What a search found: the middle of its two rates; of one that ended outside, half a step beyond the last rate."""
    half = sqrt(find.factor)
    held = search.held_per_s or find.lowest / find.factor
    return held * half if search.missed_per_s is None else sqrt(held * search.missed_per_s)


# ---- comparisons


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A found rate beside its reference's, and how each compares in the repeats in which both searches ended."""

    found: FoundRate
    reference: FoundRate
    label: str
    reference_label: str
    placement: str
    is_control: bool
    by_search: tuple[float, ...]

    @property
    def result(self) -> LogMean | None:
        return intervals.log_mean([log(ratio) for ratio in self.by_search]) if self.by_search else None


def compare_rates(plan: Plan, found: Sequence[FoundRate]) -> tuple[RateComparison, ...]:
    """Every pair of cells that the plan compares, by the rates found; Holm over all of them, controls last.

    What ended outside of the rates tried, or was limited by the requester, bounds the other side's rate from one side only:
    it may be told to be more or less, and nothing else.
    """
    by_cell = {of.cell: of for of in found}
    finds = {cell.id: cell.find for cell in plan.cells}
    pairs = [
        _pair(pair, by_cell[pair.cell.id], by_cell[pair.reference.id], finds)
        for pair in contrasts.pairs(plan)
        if pair.cell.id in by_cell and pair.reference.id in by_cell
    ]
    results = _with_shared_error(pairs)
    envelopes: dict[str, float] = {}
    for pair, result in zip(pairs, results, strict=True):
        if pair.is_control and result is not None:
            envelopes[pair.found.setting] = max(envelopes.get(pair.found.setting, 0.0), abs(result.mean))
    asked = [r.p_value for p, r in zip(pairs, results, strict=True) if not p.is_control and r and r.p_value is not None]
    family = zip(intervals.holm(asked), intervals.holm_levels(asked), strict=True)
    return tuple(_judged(pairs, results, family, envelopes, plan.matters))


def _pair(pair: contrasts.Pair, found: FoundRate, reference: FoundRate, finds: Mapping[str, Find | None]) -> _Pair:
    one, other = finds[found.cell], finds[reference.cell]
    values: list[dict[int, float]] = [
        {search.repeat: _value(find, search) for search in _ended(side.searches)} if find is not None else {}
        for find, side in ((one, found), (other, reference))
    ]
    shared = sorted(values[0].keys() & values[1].keys())
    is_sound = not found.invalid and not reference.invalid
    return _Pair(
        found=found,
        reference=reference,
        label=_label(found, pair.cell, pair.factor),
        reference_label=_label(reference, pair.reference, pair.factor),
        placement=pair.cell.placement,
        is_control=pair.is_control,
        by_search=tuple(values[0][repeat] / values[1][repeat] for repeat in shared) if is_sound else (),
    )


def _with_shared_error(pairs: Sequence[_Pair]) -> list[LogMean | None]:
    found: dict[int, LogMean | None] = {}
    for placement in {pair.placement for pair in pairs}:
        here = [number for number, pair in enumerate(pairs) if pair.placement == placement]
        shared = intervals.with_shared_error([pairs[number].result for number in here])
        found |= dict(zip(here, shared, strict=True))
    return [found[number] for number in range(len(pairs))]


def _judged(
    pairs: Sequence[_Pair],
    results: Sequence[LogMean | None],
    family: Iterator[tuple[float, float]],
    envelopes: Mapping[str, float],
    margin: float,
) -> Iterator[RateComparison]:
    for pair, result in zip(pairs, results, strict=True):
        p_value, level, envelope = None, ALPHA, 0.0
        if result is not None and result.p_value is not None:
            p_value = result.p_value
            if not pair.is_control:
                (p_value, level), envelope = next(family), envelopes.get(pair.found.setting, 0.0)
        interval = None if result is None else result.interval(level)
        if interval is not None:
            interval = _wider(interval, max(pair.found.factor, pair.reference.factor))
        yield _comparison(pair, result, p_value, interval, equivalence.standing(interval, margin, envelope=envelope))


def _comparison(
    pair: _Pair,
    result: LogMean | None,
    p_value: float | None,
    interval: Interval | None,
    of_interval: str,
) -> RateComparison:
    standing = _STANDINGS.get(of_interval, "cannot tell")
    allowed, bound = _allowed(pair.found, pair.reference), _UNBOUNDED
    if interval is not None and standing not in allowed:
        standing = "cannot tell"
        result = interval = p_value = None
    elif interval is not None and len(allowed) < len(_STANDINGS):
        bound = _BOUNDS[standing]
    return RateComparison(
        cell=pair.found.cell,
        reference_cell=pair.reference.cell,
        setting=pair.found.setting,
        label=pair.label,
        reference_label=pair.reference_label,
        ratio=result.ratio if result is not None else None,
        interval=interval,
        p_value=p_value,
        by_search=pair.by_search,
        standing=standing,
        is_control=pair.is_control,
        bound=bound,
    )


def _allowed(found: FoundRate, reference: FoundRate) -> Set[str]:
    """What may be said of two rates of which one is known from one side alone."""
    allowed: Set[str] = frozenset(_STANDINGS.values())
    for side, at_least, at_most in ((found, "more", "less"), (reference, "less", "more")):
        if side.is_requesters or any(search.is_at_least for search in side.searches):
            allowed = allowed & {at_least}
        if any(search.is_below for search in side.searches):
            allowed = allowed & {at_most}
    return allowed


def _label(found: FoundRate, cell: Cell, factor: str) -> str:
    """What a side is called: its stack, and by a factor its value too."""
    return (
        found.stack_label
        if factor == STACK
        else f"{found.stack_label} {BY_NAME[factor].compared(cell.factors[factor])}"
    )


def _find(basis: Basis) -> Capacity:
    """Return the rates that the searches of a run found, and how they compare."""
    if basis.searched is None:
        return Capacity()
    rates = QUESTION.of(basis.summary).rates
    if basis.sampled is not None:
        sampled, summary = basis.sampled, basis.summary
        rates = found_rates(basis.searched, sampled.run.manifest(), sampled.evidence, summary.cells, summary.checks)
    return Capacity(rates=rates, comparisons=compare_rates(basis.searched, rates), margin=basis.plan.matters)


QUESTION = Question(
    name="capacity", type=Capacity, empty=Capacity(), find=_find, applies=lambda plan: not is_no_search(plan)
)
