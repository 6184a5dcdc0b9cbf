"""Compares one run with another, cell by cell, for use after a change.

`run_statistics` has the model, `matching` says which cells measure the same thing, `environments` which conditions differ,
`measured_runs` finds earlier equal runs. Holm's correction goes over all cells compared: a change that touched nothing is
called a change somewhere in at most 5 % of comparisons, however many cells there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import exp
from typing import Any, Literal

from orchestrator import quantities
from orchestrator.between_runs import cost_changes, environments, matching, run_statistics
from orchestrator.between_runs.cost_changes import CostChange
from orchestrator.between_runs.measured_runs import EqualRun
from orchestrator.between_runs.run_statistics import Difference, FloorMove, RunMean, Spread
from orchestrator.errors import UsageError
from orchestrator.findings.block_values import by_block, censored_blocks, lost, missing_blocks, moved, why_no_value
from orchestrator.findings.check_result import CheckVerdict
from orchestrator.findings.compare import Statistic
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, Standing

SCHEMA_VERSION = 2
Change = Literal["improved", "regressed", "unchanged", "not resolved", "cannot tell"]

# The words of two runs for what `equivalence.standing` says of a ratio's interval.
CHANGES: Mapping[Standing, Change] = {
    "faster": "improved",
    "slower": "regressed",
    "tie": "unchanged",
    "not resolved": "not resolved",
    "cannot tell": "cannot tell",
}
DECIDED = ("improved", "regressed", "unchanged")


class NothingInCommon(UsageError):
    """No cell of one run measures what a cell of the other does: a gate cannot tell anything of them."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One cell (or stack) compared. `ratio` above 1 is slower, for throughput too: its ratio is turned over.

    `value` and `reference_value` are geometric means over trials: milliseconds, or requests per second. The interval is
    Holm-adjusted, and of two runs it includes what may lie between runs and what the floor's movement may account for.
    `verdict` has the words of `Change` between runs, of `Standing` within one.
    """

    cell: str
    reference: str
    group: str
    label: str
    statistic: Statistic
    value: float | None
    reference_value: float | None
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    verdict: Change | Standing
    reason: Reason | None = None  # why nothing is decided
    doubts: tuple[str, ...] = ()  # what forbids a verdict whatever the interval says
    notes: tuple[str, ...] = ()  # what a reader of the verdict must know
    floors: tuple[FloorMove, ...] = ()
    spread: Spread | None = None
    costs: tuple[CostChange, ...] = ()  # what its requests cost, whatever the statistic


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """What `orch compare` prints. `margin` is the relative difference below which nothing matters (0.05: 5 %)."""

    of: str
    reference: str
    statistic: Statistic
    margin: float
    rows: tuple[Row, ...]
    differences: tuple[str, ...] = ()  # conditions, versions and efforts that differ, and what is in one run only
    model: str = ""  # where the spread between runs is taken from, as a sentence
    equal_runs: tuple[str, ...] = ()  # the ids of the history
    in_all_rows: tuple[str, ...] = ()  # doubts and notes that every one of several rows has: to be said once
    schema_version: int = field(default=SCHEMA_VERSION)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A cell of both runs, tested or not."""

    new: CellSummary
    old: CellSummary
    means: tuple[RunMean | None, RunMean | None]
    known: int  # runs of the history that have a value of this cell's statistic
    spread: Spread
    floors: tuple[FloorMove, ...]
    no_floors: str  # why there are none, as a clause; empty where there are some
    difference: Difference | None


def compare_runs(
    new: RunSummary, old: RunSummary, statistic: Statistic, history: Sequence[EqualRun] = ()
) -> RunComparison:
    """`new` against `old`; UsageError with every reason when the two cannot be compared, NothingInCommon without a match.

    `history`: runs equal to `old`, from `measured_runs.equal_runs`.
    """
    if new.run_id == old.run_id:
        raise UsageError(f"{new.run_id} is given twice: there is nothing to compare", hint="name two different runs")
    obstacles = environments.obstacles(new, old)
    matched = matching.match(new, old)
    if not matched.pairs and new.name != old.name:
        different = "; ".join((*obstacles, *matching.different_values(new, old)))
        raise NothingInCommon(
            f"the experiments are different: {new.name}, {old.name}; no cell of one measures what a cell of the other does"
            + (f" ({different})" if different else ""),
            hint="each run's own stacks compare with `orch compare RUN`",
        )
    if not matched.pairs:
        obstacles += matching.different_values(new, old) or ["one of them has no cell"]
    if obstacles:
        kind = UsageError if matched.pairs else NothingInCommon
        raise kind(
            f"runs {new.run_id} and {old.run_id} cannot be compared, as they differ in: {'; '.join(obstacles)}",
            hint="measure both under the same conditions; each run's own stacks compare with `orch compare RUN`",
        )
    margin = min(new.matters, old.matters)
    compared = [_compare(new, old, pair, statistic, history) for pair in matched.pairs]
    changes = [*environments.changes(new, old), *_efforts(new, old, matched.pairs)]
    rows = _with_costs(_rows(new, old, compared, statistic, margin), compared, history, margin)
    return RunComparison(
        of=new.run_id,
        reference=old.run_id,
        statistic=statistic,
        margin=margin,
        rows=rows,
        differences=(*environments.confounders(new, old), *changes, *matched.differences),
        model=_model(compared, statistic, history),
        equal_runs=tuple(run.run_id for run in history),
        in_all_rows=_in_all(rows),
    )


def compare_within(run: RunSummary, statistic: Statistic) -> RunComparison:
    """A run's stacks against its reference stack, as the run's summary has it."""
    chosen = [c for c in run.comparisons if c.statistic == statistic and not c.control]
    if not chosen:
        raise UsageError(
            f"run {run.run_id} has a single stack: there is nothing to compare within it",
            hint="give a second run: `orch compare NEW OLD`",
        )
    references = quantities.listed(list(dict.fromkeys(c.compared_with for c in chosen)))
    cells = {cell.id: cell for cell in run.cells}
    values = {key: _value(mean_of(cell, statistic), statistic) for key, cell in cells.items()}
    rows = tuple(
        Row(
            cell=c.cell,
            reference=c.reference_cell,
            group=c.group,
            label=f"{c.stack_label} against {c.reference_label}",
            statistic=statistic,
            value=values.get(c.cell),
            reference_value=values.get(c.reference_cell),
            ratio=c.ratio,
            interval=c.interval,
            p_value=c.p_value,
            verdict=c.standing,
            reason=c.reason,
            costs=cost_changes.within(run, c),
            doubts=(
                *dict.fromkeys(d for key in (c.cell, c.reference_cell) for d in _failed_checks(run, cells[key])),
                *_unlike(run, c),
            ),
        )
        for c in chosen
    )
    return RunComparison(of=run.run_id, reference=references, statistic=statistic, margin=run.matters, rows=rows)


def _compare(
    new: RunSummary,
    old: RunSummary,
    pair: tuple[CellSummary, CellSummary],
    statistic: Statistic,
    history: Sequence[EqualRun],
) -> _Compared:
    mine, theirs = mean_of(pair[0], statistic), mean_of(pair[1], statistic)
    known = [run.means[key] for run in history if (key := (pair[1].id, statistic)) in run.means]
    above = max(share_above_ping(run, cell, statistic) for run, cell in ((new, pair[0]), (old, pair[1])))
    spread = run_statistics.spread_between(statistic, known, above)
    floors = tuple(run_statistics.moves(new, old, pair))
    return _Compared(
        new=pair[0],
        old=pair[1],
        means=(mine, theirs),
        known=len(known),
        spread=spread,
        floors=floors,
        no_floors="" if floors else run_statistics.why_none(new, old, pair),
        difference=run_statistics.difference(mine, theirs, spread, floors) if mine and theirs else None,
    )


def _rows(
    new: RunSummary, old: RunSummary, compared: Sequence[_Compared], statistic: Statistic, margin: float
) -> tuple[Row, ...]:
    p_values = [c.difference.p_value for c in compared if c.difference]
    family = zip(intervals.holm(p_values), intervals.holm_levels(p_values), strict=True)
    confounders = environments.confounders(new, old)
    rows = []
    for cell in compared:
        noises = environments.noises((new, cell.new.id), (old, cell.old.id))
        failed = (*_failed_checks(new, cell.new), *_failed_checks(old, cell.old))
        doubts = (*failed, *confounders, *noises, *_far_floors(cell))
        warnings = (*_warnings(new, cell.new), *_warnings(old, cell.old))
        notes = (*_errors(cell), *_floor_notes(cell), *warnings)
        p_value, level = next(family) if cell.difference else (None, intervals.ALPHA)
        interval = cell.difference.interval(level) if cell.difference else None
        verdict, reason = _judge(cell, interval, margin, doubts, statistic)
        rows.append(
            Row(
                cell=cell.new.id,
                reference=cell.old.id,
                group=", ".join(
                    filter(None, (cell.new.operation, cell.new.placement, cell.new.connection, cell.new.load))
                ),
                label=cell.new.stack_label,
                statistic=statistic,
                value=_value(cell.means[0], statistic),
                reference_value=_value(cell.means[1], statistic),
                ratio=exp(cell.difference.mean) if cell.difference else None,
                interval=interval,
                p_value=p_value,
                verdict=verdict,
                reason=reason,
                doubts=doubts,
                notes=notes,
                floors=cell.floors,
                spread=cell.spread,
            )
        )
    return tuple(rows)


def _with_costs(
    rows: Sequence[Row], compared: Sequence[_Compared], history: Sequence[EqualRun], margin: float
) -> tuple[Row, ...]:
    pairs = [
        cost_changes.Pair(new=cell.new, old=cell.old, floors=cell.floors, doubts=row.doubts)
        for row, cell in zip(rows, compared, strict=True)
    ]
    changes = cost_changes.between(pairs, history, margin)
    return tuple(replace(row, costs=costs) for row, costs in zip(rows, changes, strict=True))


def _judge(
    cell_pair: _Compared, interval: Interval | None, margin: float, doubts: Sequence[str], statistic: Statistic
) -> tuple[Change, Reason | None]:
    sides = (cell_pair.new, cell_pair.old)
    if interval is None or cell_pair.difference is None:
        causes = (why_no_value(cell, statistic) for cell in sides)
        return "cannot tell", next((cause for cause in causes if cause), None) or few_trials(sides, statistic)
    standing = equivalence.standing(interval, margin)
    change = CHANGES[standing]
    # An open row may still surely be no slower than some limit (`gate`): that, too, is to the advantage of the new run.
    if survivors := lost(cell_pair.new, cell_pair.old, "faster" if standing == "not resolved" else standing):
        return "cannot tell", survivors
    unsent = next((reason for cell in sides if (reason := moved(cell, statistic, margin))), None)
    if change in DECIDED and (doubts or unsent):
        return "cannot tell", unsent or Reason(kind=ReasonKind.DOUBTED, names=(change,))
    if change == "not resolved" and any(cell_pair.difference.shift):
        return change, Reason(kind=ReasonKind.FLOOR_MOVED)
    return change, equivalence.reason(interval, margin)


def few_trials(sides: Sequence[CellSummary], statistic: str) -> Reason:
    """Return that a side has too few trials with a value for an interval."""
    blocks = min(len(by_block(cell.trials, statistic)) for cell in sides)
    numbers = {"blocks": blocks, "needed": intervals.FEWEST_BLOCKS}
    return Reason(kind=ReasonKind.FEW_BLOCKS, cells=tuple(cell.id for cell in sides), numbers=numbers)


def mean_of(cell: CellSummary, statistic: Statistic) -> RunMean | None:
    """Over its trials; None where the value of one falls among requests without a right reply, or only some have one."""
    if censored_blocks(cell.trials, statistic) or missing_blocks(cell.trials, statistic):
        return None
    return run_statistics.run_mean(list(by_block(cell.trials, statistic).values()))


def _value(mean: RunMean | None, statistic: Statistic) -> float | None:
    """Milliseconds, or for throughput requests per second: what `by_block` turned over is turned back."""
    if mean is None:
        return None
    return exp(-mean.mean) if statistic == "throughput" else exp(mean.mean)


def share_above_ping(run: RunSummary, cell: CellSummary, statistic: Statistic) -> float:
    """Of a cell's latency (of the median where the statistic is a rate); 1 without a ping."""
    latency = mean_of(cell, "median" if statistic == "throughput" else statistic)
    ping = run_statistics.floor_of(run, "ping", cell)
    floor = ping.distribution.median if ping and ping.distribution else None
    return 1.0 if latency is None or floor is None else max(0.0, 1 - floor / exp(latency.mean))


def _failed_checks(run: RunSummary, cell: CellSummary) -> Iterator[str]:
    failed = _checks(run, cell, "fail")
    if failed:
        yield f"in {run.run_id} a check failed: {', '.join(failed)}"


def _unlike(run: RunSummary, compared: Comparison) -> Iterator[str]:
    """Yield the values of `same` that one of both stacks answers in its own way."""
    labels = (compared.stack_label, compared.reference_label)
    for difference in SAMENESS.of(run):
        if difference.stacks[1] in labels:
            yield f"not the same work: {sameness.sentence(difference)}"


def _warnings(run: RunSummary, cell: CellSummary) -> Iterator[str]:
    if names := _checks(run, cell, "warn"):
        yield f"in {run.run_id} {'a check warns' if len(names) == 1 else 'checks warn'}: {', '.join(names)}"


def _checks(run: RunSummary, cell: CellSummary, verdict: CheckVerdict) -> list[str]:
    names = [c.name for c in run.checks if c.verdict == verdict and c.cell in (None, cell.id)]
    return list(dict.fromkeys(names))


def _far_floors(compared: _Compared) -> Iterator[str]:
    for floor in compared.floors:
        if floor.is_beyond_comparing:
            yield f"conditions differ: {_moved(floor)}"


def _floor_notes(compared: _Compared) -> Iterator[str]:
    if not compared.floors:
        yield f"{compared.no_floors}: whether conditions changed is unknown"
    for floor in compared.floors:
        if floor.has_moved and not floor.is_beyond_comparing:
            yield _moved(floor)


def _moved(floor: FloorMove) -> str:
    return (
        f"the {floor.kind} floor itself moved from {quantities.ms(floor.old_ms)} to {quantities.ms(floor.new_ms)} "
        f"(ratio {quantities.factor(floor.ratio)}, {' to '.join(quantities.bounds(floor.interval))})"
    )


def _errors(compared: _Compared) -> Iterator[str]:
    mine, theirs = (sum(cell.errors.values()) for cell in (compared.new, compared.old))
    if mine or theirs:
        yield f"errors: {mine:,} of {compared.new.requests:,} requests against {theirs:,} of {compared.old.requests:,}"


def _in_all(rows: Sequence[Row]) -> tuple[str, ...]:
    """The doubts and notes that each of several rows has."""
    if len(rows) < 2:
        return ()
    first, *others = ((*row.doubts, *row.notes) for row in rows)
    return tuple(text for text in dict.fromkeys(first) if all(text in texts for texts in others))


def _efforts(new: RunSummary, old: RunSummary, pairs: Sequence[tuple[CellSummary, CellSummary]]) -> list[str]:
    every = (
        matching.differing(matching.effort(mine, new.plan), matching.effort(theirs, old.plan)) for mine, theirs in pairs
    )
    return list(dict.fromkeys(difference for differences in every for difference in differences))


def _model(compared: Sequence[_Compared], statistic: Statistic, history: Sequence[EqualRun]) -> str:
    assumed = [cell for cell in compared if cell.spread.source == "assumption"]
    if not assumed:
        return f"the spread between runs is estimated from {len(history)} other runs equal to the reference"
    share = "" if len(assumed) == len(compared) else f" for {len(assumed)} of {len(compared)} cells"
    lacking = min(assumed, key=lambda cell: cell.known)
    but = ""
    if len(history) >= run_statistics.FEWEST_RUNS:
        but = (
            f"; of {lacking.new.id} only {lacking.known} of them have a {statistic} (three trials with one are needed)"
        )
    return (
        f"the spread between runs is assumed{share}: {run_statistics.EXCESS:g} times what trials imply, plus "
        f"{quantities.percent(run_statistics.ASSUMED_SD[statistic])} of what lies above the ping; {len(history)} other runs "
        f"equal to the reference were found, and {run_statistics.FEWEST_RUNS} are needed to estimate it{but}"
    )
