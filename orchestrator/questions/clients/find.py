"""What a client library adds to the latency of its stack, where the run asked the same stack with a native client, too.

The pairs are those that `compare_by: client` has, whatever the run compares, and are judged by the same rule as a family of
their own. Of streams there are none: when events come is their schedule's, and no client's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.compare import compare_by
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.findings.validity import withhold
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.statistics.terms import Interval, Reason


@dataclass(frozen=True, kw_only=True)
class ClientShare:
    """What a client adds to what a native one takes, asked alike of the same responder. Milliseconds.

    `difference` is the one median less the other, `share` what of the first that is; both and their intervals follow from
    the ratio of the medians, block by block, whose interval is Holm-adjusted over all of these pairs. They are below zero
    for a client that is quicker than the native one, and None where there is no ratio, or no interval: see `reason`.
    """

    cell: str
    native_cell: str
    setting: str
    stack: str  # protocol and responder, in words
    client: str
    native: str
    median: float | None
    median_interval: Interval | None
    native_median: float | None
    native_median_interval: Interval | None
    difference: float | None
    difference_interval: Interval | None
    share: float | None
    share_interval: Interval | None
    standing: str  # of the client against the native one, as a comparison's
    reason: Reason | None


CLIENT = "client"


def client_shares(
    plan: Plan, cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]
) -> tuple[ClientShare, ...]:
    """Each cell of a client that is not native beside each cell of a native one, asked alike; in the order of the cells."""
    natives = {stack.id for stack in plan.stacks if plan.resolved.get(stack.id, {}).get("native")}
    if not natives:
        return ()
    names = tuple(dict.fromkeys(stack.client for stack in plan.stacks if stack.id in natives))
    pairs = [
        pair
        for pair in contrasts.by_factor(plan, CLIENT, names)
        if pair.reference.stack in natives and pair.cell.stack not in natives and pair.cell.kind in ("call", "task")
    ]
    by_id = {cell.id: cell for cell in cells}
    found = withhold(compare_by(("median",), plan, cells, pairs, invalid), invalid)
    return tuple(_share(of, by_id[of.cell], by_id[of.reference_cell]) for of in found)


def _share(of: Comparison, cell: CellSummary, native: CellSummary) -> ClientShare:
    median = cell.distribution.median if cell.distribution else None
    share = None if of.ratio is None else _of_ratio(of.ratio)
    bounds: Interval | None = of.interval and (_of_ratio(of.interval[0]), _of_ratio(of.interval[1]))
    return ClientShare(
        cell=of.cell,
        native_cell=of.reference_cell,
        setting=cell.setting,
        stack=f"{cell.protocol} ({cell.responder})",
        client=cell.client,
        native=native.client,
        median=median,
        median_interval=cell.median_interval,
        native_median=native.distribution.median if native.distribution else None,
        native_median_interval=native.median_interval,
        difference=None if share is None or median is None else share * median,
        difference_interval=None if bounds is None or median is None else (bounds[0] * median, bounds[1] * median),
        share=share,
        share_interval=bounds,
        standing=of.standing,
        reason=of.reason,
    )


def _of_ratio(ratio: float) -> float:
    """What of the whole is above the part, by the whole over the part.

    >>> _of_ratio(4.0), _of_ratio(0.5)
    (0.75, -1.0)
    """
    return 1 - 1 / ratio


def _find(basis: Basis) -> tuple[ClientShare, ...]:
    return client_shares(basis.plan, basis.summary.cells, basis.invalid)


QUESTION: Question[tuple[ClientShare, ...]] = Question(
    name="clients", type=tuple[ClientShare, ...], empty=(), find=_find, applies=is_no_search
)
