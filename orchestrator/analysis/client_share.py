"""The shape of a client's own share of the latency: a cell beside that of the same stack asked by a native client."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.analysis.terms import Interval, Reason


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
