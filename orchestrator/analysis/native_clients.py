"""What a client library adds to the latency of its stack, where the run asked the same stack with a native client, too.

The pairs are those that `compare_by: client` has, whatever the run compares, and are judged by the same rule as a family of
their own. Of streams there are none: when events come is their schedule's, and no client's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.client_share import ClientShare
from orchestrator.analysis.compare import compare_by
from orchestrator.analysis.summary import CellSummary, Comparison, Interval
from orchestrator.analysis.validity import withhold
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan

CLIENT = "client"
HEADS = (
    "Stack",
    "Asked",
    "Client",
    "Median",
    "Native client",
    "Its median",
    "Difference",
    "Client's share of its median",
    "Against native",
)
NOTE = (
    "A client's share is what its median has above that of the native client, asked alike in the same blocks; below zero for"
    " a client that is quicker. It follows, with its interval, from the ratio of the two, and holds the client library with"
    " the interpreter that it runs in."
)


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
        why=of.why,
    )


def _of_ratio(ratio: float) -> float:
    """What of the whole is above the part, by the whole over the part.

    >>> _of_ratio(4.0), _of_ratio(0.5)
    (0.75, -1.0)
    """
    return 1 - 1 / ratio


# ---- in words

_LEAST_SHARE = -10.0  # below it an interval only says that next to nothing is known


def sentence(shares: Sequence[ClientShare]) -> str:
    """What of each stack's latency is the client's, in one sentence; empty without a native client to hold it against."""
    by_stack: dict[tuple[str, str], dict[str, list[ClientShare]]] = {}
    for of in shares:
        by_stack.setdefault((of.stack, of.native), {}).setdefault(of.client, []).append(of)
    clauses = [
        f"{stack} against {native}: {', '.join(f'{client} {_told(of)}' for client, of in clients.items())}"
        for (stack, native), clients in by_stack.items()
    ]
    return f"The client's own share of the median latency: {'; '.join(clauses)}." if clauses else ""


def rows(shares: Sequence[ClientShare]) -> list[tuple[str, ...]]:
    """A row of texts for each, under `HEADS`."""
    return [
        (
            of.stack,
            of.setting,
            of.client,
            _time(of.median, of.median_interval),
            of.native,
            _time(of.native_median, of.native_median_interval),
            _difference(of),
            _share_text(of),
            f"{of.standing}: {of.why}" if of.share_interval is None and of.why else of.standing,
        )
        for of in shares
    ]


def _told(of: Sequence[ClientShare]) -> str:
    if len(of) == 1:
        return _share_text(of[0]) if of[0].share is not None else f"not known ({of[0].why})"
    known = sorted(one.share for one in of if one.share is not None)
    if not known:
        return "not known"
    if len(known) < len(of):
        return f"{_between(known[0], known[-1])} in {len(known)} of {len(of)} settings"
    return f"{_between(known[0], known[-1])} in {len(of)} settings"


def _share_text(of: ClientShare) -> str:
    if of.share is None:
        return "-"
    return words.percent(of.share) + (f" ({_between(*of.share_interval)})" if of.share_interval else "")


def _between(low: float, high: float) -> str:
    first, last = words.percent(low), words.percent(high)
    if low < _LEAST_SHARE:
        first = f"under {_LEAST_SHARE * 100:,.0f} %"
    return first if first == last else f"{first.removesuffix(' %')} to {last}"


def _difference(of: ClientShare) -> str:
    """In time, as the share: no further below 0 than an interval says anything."""
    if of.share_interval is None or of.share_interval[0] >= _LEAST_SHARE or not of.median:
        return _time(of.difference, of.difference_interval)
    high = words.ms((of.difference_interval or of.share_interval)[1])
    return f"{_time(of.difference, None)} (under {words.ms(_LEAST_SHARE * of.median)} to {high})"


def _time(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    return words.ms(value) + (f" ({' to '.join(map(words.ms, interval))})" if interval else "")
