"""The cost model of a whole run: read, fitted, and held against its sealed cells. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from orchestrator.analysis.evidence import RunEvidence
from orchestrator.analysis.model import cells as model_cells
from orchestrator.analysis.model.crowded import with_crowded
from orchestrator.analysis.model.fit import fit_all
from orchestrator.analysis.model.judged import judged
from orchestrator.analysis.model.rules import rules
from orchestrator.analysis.model.shapes import Modelled
from orchestrator.analysis.series import Delivered
from orchestrator.analysis.summary import CellSummary


def modelled(
    run: RunEvidence,
    cells: Sequence[CellSummary],
    links: Sequence[Delivered],
    floors: model_cells.Floors,
    invalid: Container[str],
) -> Modelled:
    """Every series with its model, or with the reason why it has none. Invalid cells are neither fitted nor sealed."""
    series, found, unlike = model_cells.read(run, cells, floors, invalid)
    refusals = model_cells.refusals(run, links, found)
    if refusals:
        return Modelled(series=series, fits=(), judged=None, refusals=refusals, not_fitted={})
    fits, not_fitted = fit_all([each for each in series if each.id not in unlike], found)
    fits = with_crowded(fits, found)
    complete = Modelled(
        series=series,
        fits=fits,
        judged=judged(fits, found, run.plan.matters, len(run.plan.sealed)),
        refusals=(),
        not_fitted={**unlike, **not_fitted},
    )
    return replace(complete, rules=rules(complete, run.plan.matters))
