"""One run against another: cell by cell, for use after a change. Trials of two runs share no block, so Welch's t applies.

Holm's correction goes over all cells compared: a change that touched nothing is called a regression somewhere in at
most 5 % of comparisons, however many cells there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp
from typing import Any, Literal

from orchestrator.analysis import intervals
from orchestrator.analysis.cells import by_block
from orchestrator.analysis.compare import Statistic
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, RunSummary
from orchestrator.errors import Regression, UsageError

SCHEMA_VERSION = 1
Change = Literal["improved", "regressed", "within noise", "cannot tell"]

# Conditions that must agree for two runs to be compared at all, as `conditions` calls them.
_MUST_AGREE = ("CPU", "CPUs", "Machine type", "Machine", "Provider", "CPU pinning")
_MAY_DIFFER = ("Kernel", "Python", "System", "CPU governor", "orch")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One cell (or stack) compared. `ratio` above 1 is slower than what it is compared with."""

    cell: str
    reference: str
    group: str
    label: str
    statistic: Statistic
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    change: Change
    why: str


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """What `orch compare` prints."""

    of: str
    reference: str
    statistic: Statistic
    rows: tuple[Row, ...]
    differences: tuple[str, ...] = ()  # conditions and versions that differ, and what is in one run only
    schema_version: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


def compare_runs(new: RunSummary, old: RunSummary, statistic: Statistic) -> RunComparison:
    """`new` against `old`; UsageError with every reason when the two cannot be compared."""
    reasons = [*_conditions(new, old, _MUST_AGREE), *_payloads(new, old)]
    if reasons:
        raise UsageError(
            f"runs {new.run_id} and {old.run_id} cannot be compared: {'; '.join(reasons)}",
            hint="measure both under the same conditions; each run's own stacks compare with `orch compare RUN`",
        )
    mine, theirs = _by_key(new.cells), _by_key(old.cells)
    common = [key for key in mine if key in theirs]
    if not common:
        raise UsageError(
            f"runs {new.run_id} and {old.run_id} have no cell in common: stacks, operations, payloads, placements, "
            "connections or loads all differ",
            hint=f"cells of {old.run_id}: {', '.join(cell.id for cell in old.cells[:5])}",
        )
    alone = [f"only in {new.run_id}: {mine[k].id}" for k in mine if k not in theirs]
    alone += [f"only in {old.run_id}: {theirs[k].id}" for k in theirs if k not in mine]
    return RunComparison(
        of=new.run_id,
        reference=old.run_id,
        statistic=statistic,
        rows=_rows([(mine[key], theirs[key]) for key in common], statistic),
        differences=(*_conditions(new, old, _MAY_DIFFER), *_versions(new, old), *alone),
    )


def compare_within(run: RunSummary, statistic: Statistic) -> RunComparison:
    """A run's stacks against its reference stack, as the run's summary has it."""
    chosen = [c for c in run.comparisons if c.statistic == statistic and not c.control]
    if not chosen:
        raise UsageError(
            f"run {run.run_id} has a single stack: there is nothing to compare within it",
            hint="give a second run: `orch compare NEW OLD`",
        )
    rows = tuple(
        Row(
            cell=c.cell,
            reference=c.reference_cell,
            group=c.group,
            label=f"{c.stack_label} against {c.reference_label}",
            statistic=statistic,
            ratio=c.ratio,
            interval=c.interval,
            p_value=c.p_value,
            change=_change_of(c),
            why=c.why,
        )
        for c in chosen
    )
    return RunComparison(of=run.run_id, reference=chosen[0].reference_label, statistic=statistic, rows=rows)


def require_no_regression(comparison: RunComparison, margin: float) -> None:
    """Regression when a row is slower by more than `margin` (0.05: 5 %) and its interval leaves out 1."""
    slower = [r for r in comparison.rows if r.change == "regressed" and r.ratio is not None and r.ratio > 1 + margin]
    if slower:
        worst = max(slower, key=lambda row: row.ratio or 0)
        raise Regression(
            f"{len(slower)} of {len(comparison.rows)} comparisons are slower by more than {margin:.3g}: "
            f"{worst.label} most, by {(worst.ratio or 1) - 1:.1%}",
            hint="the table shows each ratio with its interval; `orch report` shows the distributions",
        )


def _rows(pairs: Sequence[tuple[CellSummary, CellSummary]], statistic: Statistic) -> tuple[Row, ...]:
    tested = []
    for new, old in pairs:
        values = [list(by_block(cell.trials, statistic).values()) for cell in (new, old)]
        tested.append(intervals.unpaired(*values) if all(values) else None)
    p_values = [intervals.two_sided_p(t[0] / t[1], t[2]) if t[1] > 0 else float(t[0] == 0) for t in tested if t]
    adjusted, levels = iter(intervals.holm(p_values)), iter(intervals.holm_levels(p_values))
    rows = []
    for (new, old), test in zip(pairs, tested, strict=True):
        if test is None:
            rows.append(_untested(new, old, statistic))
            continue
        mean, error, freedom = test
        half = intervals.t_quantile(1 - next(levels) / 2, freedom) * error
        interval = (exp(mean - half), exp(mean + half))
        change: Change = "regressed" if mean > 0 else "improved"
        outside = not interval[0] <= 1 <= interval[1]
        rows.append(
            _row(
                new,
                old,
                statistic,
                ratio=exp(mean),
                interval=interval,
                p_value=next(adjusted),
                change=change if outside else "within noise",
                why="the interval leaves out 1" if outside else "the interval holds 1",
            )
        )
    return tuple(rows)


def _untested(new: CellSummary, old: CellSummary, statistic: Statistic) -> Row:
    counts = f"{len(by_block(new.trials, statistic))} and {len(by_block(old.trials, statistic))}"
    why = f"{counts} trials with a value; an interval needs {intervals.FEWEST_BLOCKS} each"
    return _row(new, old, statistic, ratio=None, interval=None, p_value=None, change="cannot tell", why=why)


def _row(new: CellSummary, old: CellSummary, statistic: Statistic, **found: Any) -> Row:
    group = ", ".join((new.operation, new.placement, new.connection, new.load))
    return Row(cell=new.id, reference=old.id, group=group, label=new.stack_label, statistic=statistic, **found)


def _change_of(comparison: Comparison) -> Change:
    if comparison.standing == "faster":
        return "improved"
    if comparison.standing == "slower":
        return "regressed"
    return "within noise" if comparison.standing == "tie" else "cannot tell"


def _by_key(cells: Iterable[CellSummary]) -> dict[tuple[object, ...], CellSummary]:
    """Cells by what they measure: ids of other experiments may differ, and the run's own labels do."""
    return {
        (c.protocol, c.responder, c.client, c.stack, c.operation_id, c.placement, c.connection, c.load): c
        for c in cells
    }


def _conditions(new: RunSummary, old: RunSummary, names: Sequence[str]) -> list[str]:
    mine, theirs = dict(new.conditions), dict(old.conditions)
    return [
        f"{name}: {mine.get(name, 'not known')} against {theirs.get(name, 'not known')}"
        for name in names
        if mine.get(name) != theirs.get(name)
    ]


def _payloads(new: RunSummary, old: RunSummary) -> list[str]:
    """Operations and placements that bear one name and are not the same thing."""
    reasons = []
    for kind, keys in (("operations", ("name", "payload")), ("placements", ("kind", "from_zone", "to_zone", "link"))):
        theirs = {part["id"]: part for part in old.plan.get(kind, ())}
        for part in new.plan.get(kind, ()):
            other = theirs.get(part["id"])
            changed = [key for key in keys if other is not None and part.get(key) != other.get(key)]
            reasons += [f"{kind[:-1]} {part['id']}: {key} differs" for key in changed]
    return reasons


def _versions(new: RunSummary, old: RunSummary) -> list[str]:
    found = []
    for stack, mine in new.settings.items():
        theirs: Mapping[str, Any] = old.settings.get(stack, {})
        for end in ("responder_versions", "client_versions"):
            now, then = mine.get(end) or {}, theirs.get(end) or {}
            found += [
                f"{stack}: {package} {then.get(package, 'absent')} -> {now.get(package, 'absent')}"
                for package in sorted(now.keys() | then.keys())
                if theirs and now.get(package) != then.get(package)
            ]
    return sorted(set(found))
