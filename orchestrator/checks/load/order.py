"""order: whether the trials of each block ran in the planned order, and whether that order favours no stack.

What depends on the place in a block, or on what stood before, is averaged out because orders are balanced
(`orchestrator/experiment/plan/schedule.py`). Stacks measured in another order than the plan's are compared as if that
held. So the plan's order is compared with three witnesses: the journal, in which a trial's line follows its end; the
clocks of the requesters, of which each took an anchor before it sent; and the wall clock where there is no anchor. The
monotonic clock is unaffected when the wall clock changes, so it comes first; it counts within a host's boot, and a block
is made within one.

Of a balanced design no stack stands before another in all blocks: of any two cells of a placement one came first at
most twice more often than the other (once, with an even number of cells), and the numbers of times that a cell stood in
each place of its placement differ by one at most. A run of which blocks are missing may be out of balance by two more.
Fewer than three blocks show nothing of the kind, and give no intervals either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, worst
from orchestrator.evidence.collect import last_attempts
from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics.intervals import FEWEST_BLOCKS

_IMPLIED_BEFORE, _IMPLIED_PLACES = 2, 1

Order = Sequence[str]


def judge(run: RunEvidence) -> Finding | None:
    """The first block out of order; else the placement that is least balanced. None with a single cell."""
    if len(run.cells) < 2:
        return None
    counted = {(t.block, t.attempt) for t in last_attempts(run.manifest.trials)}
    blocks: dict[int, list[TrialRecord]] = {}
    for trial in run.manifest.trials:  # as the journal has them
        if (trial.block, trial.attempt) in counted:
            blocks.setdefault(trial.block, []).append(trial)
    findings = [f for block, trials in sorted(blocks.items()) if (f := _out_of_order(run, block, trials))]
    if findings:
        return findings[0]
    labels = {cell.cell.id: cell.stack.label for cell in run.cells}
    for placement in dict.fromkeys(cell.placement.id for cell in run.cells):
        here = {cell.cell.id for cell in run.cells if cell.placement.id == placement}
        orders = [[t.cell for t in trials if t.cell in here] for _, trials in sorted(blocks.items())]
        whole = [order for order in orders if len(order) == len(here)]
        missing = run.plan.repeats - len(whole)
        findings += _unbalanced(whole, labels, slack=min(2, missing))
    return worst(findings) or Finding(
        verdict="pass",
        evidence={"blocks": len(blocks), "trials": sum(len(trials) for trials in blocks.values())},
        explanation="Trials ran in the planned order, and no stack ran before another too often.",
    )


def _out_of_order(run: RunEvidence, block: int, trials: Sequence[TrialRecord]) -> Finding | None:
    planned = [t.index for t in run.plan.trials if t.block == block and t.index in {made.index for made in trials}]
    cells = {t.index: t.cell for t in run.plan.trials}
    swapped = [made.index for made in trials if cells.get(made.index) != made.cell]
    for witness, made in (("the journal", [t.index for t in trials]), *_by_clocks(trials)):
        expected = [index for index in planned if index in set(made)]
        if made != expected or swapped:
            return Finding(
                verdict="fail",
                evidence={
                    "block": block + 1,
                    "witness": witness,
                    "planned": expected,
                    "made": made,
                    "of_other_cells": swapped,
                },
                explanation=f"By {witness}, the trials of block {block + 1} did not run in the planned order.",
                action="Repeat the run, and find out what reordered trials or records: comparisons rely on that order.",
            )
    return None


def _by_clocks(trials: Sequence[TrialRecord]) -> Iterator[tuple[str, list[int]]]:
    """The order by each host's anchors, of trials that have one; by the wall clock if none has."""
    by_host: dict[str, dict[int, int]] = {}
    for trial in trials:
        for part in trial.requesters:
            if anchor := part.done.anchor:  # of several processes, the first that sent
                first = by_host.setdefault(part.host, {})
                first[trial.index] = min(first.get(trial.index, anchor.monotonic_ns), anchor.monotonic_ns)
    for host, first in by_host.items():
        yield f"the requester's clock on {host}", sorted(first, key=lambda index: (first[index], index))
    if not by_host:
        stamps = [(t.started_wall_ns, t.index) for t in trials if t.outcome == "ok" and t.started_wall_ns]
        yield "the wall clock", [index for _, index in sorted(stamps)]


def _unbalanced(orders: Sequence[Order], labels: dict[str, str], *, slack: int) -> Iterator[Finding]:
    """Pairs of cells of which one stands first, and cells that keep a place, more often than the design implies."""
    if len(orders) < FEWEST_BLOCKS or len(orders[0]) < 2:
        return
    cells = sorted(orders[0])
    places = {cell: Counter(order.index(cell) for order in orders) for cell in cells}
    for one, other in combinations(cells, 2):
        first = sum(order.index(one) < order.index(other) for order in orders)
        if abs(2 * first - len(orders)) > _IMPLIED_BEFORE + slack:
            ahead, behind = (one, other) if 2 * first > len(orders) else (other, one)
            times = max(first, len(orders) - first)
            yield _warning(
                {"first": ahead, "second": behind, "times": times, "blocks": len(orders)},
                f"{labels[ahead]} was measured before {labels[behind]} in {times} of {len(orders)} blocks",
                times / len(orders),
            )
    for cell, counts in places.items():
        most, least = max(counts.values()), min(counts[place] for place in range(len(cells)))
        if most - least > _IMPLIED_PLACES + slack:
            place = max(counts, key=lambda p: counts[p])
            yield _warning(
                {"cell": cell, "place": place + 1, "times": most, "blocks": len(orders)},
                f"{labels[cell]} ran as number {place + 1} of its placement in {most} of {len(orders)} blocks",
                most / len(orders),
            )


def _warning(evidence: dict[str, object], measured: str, weight: float) -> Finding:
    return Finding(
        verdict="warn",
        evidence=evidence,
        weight=weight,
        explanation=f"{measured}: an effect of the order would look like a difference between stacks.",
        action="Plan again with this version, which balances orders, or add a control (`control: true`).",
    )


CHECK = Check(name="order", severity="serious", kinds=CALLS | CODECS | STREAMS, judge_run=judge)
