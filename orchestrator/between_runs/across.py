"""Compares one run with another, cell by cell, for use after a change.

`run_statistics` has the model, `matching` says which cells measure the same thing, `environments` which conditions differ,
`measured_runs` finds earlier equal runs, `changes` judges. Holm's correction goes over all cells compared: a change that
touched nothing is called a change somewhere in at most 5 % of comparisons, however many cells there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp

from orchestrator import quantities
from orchestrator.between_runs import changes, environments, matching, run_statistics
from orchestrator.between_runs.changes import Changed, Pair
from orchestrator.between_runs.measured_runs import EqualRun
from orchestrator.between_runs.run_statistics import FloorMove
from orchestrator.errors import UsageError
from orchestrator.findings.check_result import CheckVerdict
from orchestrator.findings.compare import Statistic
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.statistics.intervals import FEWEST_BLOCKS

SCHEMA_VERSION = 3
_MOST_NAMED = 3  # cells without a partner, in an error


@dataclass(frozen=True, kw_only=True)
class Row(Changed):
    """One cell (or stack) compared, by the statistic of the comparison; within a run also by what its requests cost."""

    cell: str
    reference: str
    group: str
    label: str
    doubts: tuple[str, ...] = ()  # what forbids a verdict whatever the interval says
    notes: tuple[str, ...] = ()  # what a reader of the verdict must know
    floors: tuple[FloorMove, ...] = ()
    costs: tuple[Changed, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SpreadSource:
    """For how many of the compared cells the spread between runs is assumed; `runs`: others that equal the reference."""

    cells: int
    assumed: int
    runs: int


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """What `orch compare` prints. `margin` is the relative difference below which nothing matters (0.05: 5 %)."""

    of: str
    reference: str
    statistic: Statistic
    margin: float
    rows: tuple[Row, ...]
    differences: tuple[str, ...] = ()  # conditions and versions that differ, and what is in one run only
    spread: SpreadSource | None = None  # None within a run
    equal_runs: tuple[str, ...] = ()  # the ids of the history
    in_all_rows: tuple[str, ...] = ()  # doubts and notes that every one of several rows has: to be said once
    schema_version: int = field(default=SCHEMA_VERSION)


def compare_runs(
    new: RunSummary, old: RunSummary, statistic: Statistic, history: Sequence[EqualRun] = ()
) -> RunComparison:
    """`new` against `old`; UsageError with every reason when the two cannot be compared.

    `history`: runs equal to `old`, from `measured_runs.equal_runs`.
    """
    if new.run.id == old.run.id:
        raise UsageError(f"{new.run.id} is given twice: there is nothing to compare", hint="name two different runs")
    obstacles = environments.obstacles(new, old)
    matched, alone = matching.match(new, old)
    if not matched:
        obstacles += alone[:_MOST_NAMED] or ["one of them has no cell"]
    if obstacles:
        raise UsageError(
            f"runs {new.run.id} and {old.run.id} cannot be compared: {'; '.join(obstacles)}",
            hint="measure both under the same conditions; each run's own stacks compare with `orch compare RUN`",
        )
    margin = min(new.matters, old.matters)
    pairs = [_pair(new, old, cells, statistic) for cells in matched]
    rows = _rows(new, old, pairs, statistic, history, margin)
    return RunComparison(
        of=new.run.id,
        reference=old.run.id,
        statistic=statistic,
        margin=margin,
        rows=rows,
        differences=(*environments.confounders(new, old), *environments.changes(new, old), *alone),
        spread=_spread(pairs, statistic, history),
        equal_runs=tuple(run.run_id for run in history),
        in_all_rows=_in_all(rows),
    )


def compare_within(run: RunSummary, statistic: Statistic) -> RunComparison:
    """A run's stacks against its reference stack, as the run's summary has it."""
    chosen = [c for c in run.comparisons if c.statistic == statistic and not c.control]
    if not chosen:
        raise UsageError(
            f"run {run.run.id} has a single stack: there is nothing to compare within it",
            hint="give a second run: `orch compare NEW OLD`",
        )
    references = quantities.listed(list(dict.fromkeys(c.compared_with for c in chosen)))
    cells = {cell.id: cell for cell in run.cells}
    rows = tuple(
        Row(
            **vars(changes.of_comparison(c, cells)),
            cell=c.cell,
            reference=c.reference_cell,
            group=c.group,
            label=f"{c.stack_label} against {c.reference_label}",
            costs=changes.within(run, c),
            doubts=(
                *dict.fromkeys(d for key in (c.cell, c.reference_cell) for d in _failed_checks(run, cells[key])),
                *_unlike(run, c),
            ),
        )
        for c in chosen
    )
    return RunComparison(of=run.run.id, reference=references, statistic=statistic, margin=run.matters, rows=rows)


def _pair(new: RunSummary, old: RunSummary, cells: tuple[CellSummary, CellSummary], statistic: Statistic) -> Pair:
    floors = tuple(run_statistics.moves(new, old, cells))
    doubts = (
        *(text for run, cell in zip((new, old), cells, strict=True) for text in _failed_checks(run, cell)),
        *environments.confounders(new, old),
        *environments.noises((new, cells[0].id), (old, cells[1].id)),
        *(f"conditions differ: {_moved(floor)}" for floor in floors if floor.is_beyond_comparing),
    )
    above = max(_share_above_ping(run, cell, statistic) for run, cell in zip((new, old), cells, strict=True))
    return Pair(new=cells[0], old=cells[1], floors=floors, doubts=doubts, above=above)


def _group(cell: CellSummary) -> str:
    labels = cell.labels
    return ", ".join(filter(None, (labels.operation, labels.placement, cell.connection, labels.load)))


def _rows(
    new: RunSummary,
    old: RunSummary,
    pairs: Sequence[Pair],
    statistic: Statistic,
    history: Sequence[EqualRun],
    margin: float,
) -> tuple[Row, ...]:
    return tuple(
        Row(
            **vars(changed),
            cell=pair.new.id,
            reference=pair.old.id,
            group=_group(pair.new),
            label=pair.new.labels.stack,
            doubts=tuple(pair.doubts),
            notes=(*_floor_notes(pair), *_warnings(new, pair.new), *_warnings(old, pair.old)),
            floors=tuple(pair.floors),
        )
        for pair, changed in zip(pairs, changes.changes(pairs, statistic, history, margin), strict=True)
    )


def _share_above_ping(run: RunSummary, cell: CellSummary, statistic: Statistic) -> float:
    """Of a cell's latency (of the median where the statistic is a rate); 1 without a ping."""
    latency = run_statistics.mean_of(cell, "median" if statistic == "throughput" else statistic)
    ping = run_statistics.floor_of(run, "ping", cell)
    floor = ping.distribution.median if ping and ping.distribution else None
    return 1.0 if latency is None or floor is None else max(0.0, 1 - floor / exp(latency.mean))


def _failed_checks(run: RunSummary, cell: CellSummary) -> Iterator[str]:
    failed = _checks(run, cell, "fail")
    if failed:
        yield f"in {run.run.id} a check failed: {', '.join(failed)}"


def _unlike(run: RunSummary, compared: Comparison) -> Iterator[str]:
    labels = (compared.stack_label, compared.reference_label)
    for difference in SAMENESS.of(run):
        if difference.stacks[1] in labels:
            yield f"not the same work: {sameness.sentence(difference)}"


def _warnings(run: RunSummary, cell: CellSummary) -> Iterator[str]:
    if names := _checks(run, cell, "warn"):
        yield f"in {run.run.id} {'a check warns' if len(names) == 1 else 'checks warn'}: {', '.join(names)}"


def _checks(run: RunSummary, cell: CellSummary, verdict: CheckVerdict) -> list[str]:
    names = [c.name for c in run.checks if c.verdict == verdict and c.cell in (None, cell.id)]
    return list(dict.fromkeys(names))


def _floor_notes(pair: Pair) -> Iterator[str]:
    if not pair.floors:
        yield f"no floor has {FEWEST_BLOCKS} readings in both runs: whether conditions changed is unknown"
    for floor in pair.floors:
        if floor.has_moved and not floor.is_beyond_comparing:
            yield _moved(floor)


def _moved(floor: FloorMove) -> str:
    return (
        f"the {floor.kind} floor itself moved from {quantities.ms(floor.old_ms)} to {quantities.ms(floor.new_ms)} "
        f"(ratio {quantities.factor(floor.ratio)}, {' to '.join(quantities.bounds(floor.interval))})"
    )


def _in_all(rows: Sequence[Row]) -> tuple[str, ...]:
    if len(rows) < 2:
        return ()
    first, *others = ((*row.doubts, *row.notes) for row in rows)
    return tuple(text for text in dict.fromkeys(first) if all(text in texts for texts in others))


def _spread(pairs: Sequence[Pair], statistic: Statistic, history: Sequence[EqualRun]) -> SpreadSource:
    known = [sum((pair.old.id, statistic) in run.means for run in history) for pair in pairs]
    assumed = sum(runs < run_statistics.FEWEST_RUNS for runs in known)
    return SpreadSource(cells=len(known), assumed=assumed, runs=len(history))
