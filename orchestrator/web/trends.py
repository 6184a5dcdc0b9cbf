"""Cells over runs: which there are, and what `orch history` says of one."""

from __future__ import annotations

from orchestrator.analysis.compare import Statistic
from orchestrator.history.filters import Filters
from orchestrator.history.trend import Trend, trend
from orchestrator.web.context import Context
from orchestrator.web.refused import Refused

MOST_TRENDS = 12
MOST_RUNS = 500


def cells(of: Context, text: str = "") -> list[tuple[str, str, str, int]]:
    """Id, stack, label, and number of runs of each cell whose id or label has all these words; those of most runs first."""
    known = of.runs.read("cells", lambda index, _: index.cells())
    wanted = text.lower().split()
    return [cell for cell in known if all(word in f"{cell[0]} {cell[2]}".lower() for word in wanted)]


def trends(of: Context, cell: str, wanted: Filters, statistic: Statistic) -> list[Trend]:
    """A trend for each cell of that id, beginning of one, or stack, of its newest runs; Refused where there is none."""
    found = of.runs.read(None, lambda index, _: index.seen(cell, wanted))
    if not found:
        raise Refused(404, f"no run measured {cell!r} under these conditions", hint="/trends lists the cells there are")
    return [trend(seen[-MOST_RUNS:], statistic) for seen in list(found.values())[:MOST_TRENDS]]
