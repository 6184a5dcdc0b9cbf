"""The rules that examine one published row by itself, from its summary figures alone.

Each rule is a function (row, file) -> Assessment | None; None where it does not apply. A rule that applies and finds
nothing wrong says so ("supported"), so that an honest table comes out clean and visibly examined.
"""

from __future__ import annotations

from orchestrator.analysis.audit import load, network, shape
from orchestrator.analysis.audit.rules import RowRule

RULES: tuple[RowRule, ...] = (
    shape.order,
    shape.spread,
    shape.mean_in_percentiles,
    network.below_the_ping,
    network.distance,
    network.round_trips,
    network.goodput,
    network.link_load,
    shape.uniform_ramp,
    shape.constant,
    shape.digits_of_the_tool,
    load.in_flight,
    load.littles_law,
    load.total_against_rate,
    load.gap_is_no_latency,
    load.delivered,
)
