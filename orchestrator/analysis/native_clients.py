"""What a client library adds to the latency of its stack, where the run asked the same stack with a native client, too.

The pairs are those that `compare_by: client` has, whatever the run compares, and are judged by the same rule as a family of
their own. Of streams there are none: when events come is their schedule's, and no client's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.analysis.client_share import ClientShare
from orchestrator.analysis.compare import compare_by
from orchestrator.analysis.summary import CellSummary, Comparison
from orchestrator.analysis.terms import Interval
from orchestrator.analysis.validity import withhold
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan

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
