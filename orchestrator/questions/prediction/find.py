"""The cost model of a whole run: read, fitted, and held against its sealed cells. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence

from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.links import Delivered, floors_by_block
from orchestrator.questions.prediction import cells as model_cells
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.shapes import Modelled


def modelled(
    run: RunEvidence,
    cells: Sequence[CellSummary],
    links: Sequence[Delivered],
    floors: model_cells.Floors,
    invalid: Container[str],
) -> Modelled:
    """Every series with its model, or with the reason why it has none. Invalid cells are neither fitted nor sealed."""
    series, measured, unlike = model_cells.read(run, cells, floors, invalid)
    refusals = model_cells.refusals(run, links, measured)
    if refusals:
        return Modelled(series=series, fits=(), judged=None, refusals=refusals, not_fitted={})
    fits, not_fitted = fit_all([each for each in series if each.id not in unlike], measured)
    return Modelled(
        series=series,
        fits=fits,
        judged=judged(fits, measured, run.plan.matters, len(run.plan.sealed)),
        refusals=(),
        not_fitted={**unlike, **not_fitted},
    )


def _find(basis: Basis) -> Modelled | None:
    """Return the cost model, where the plan or the caller wants it; kept where a summary is judged again."""
    if basis.sampled is None:
        return QUESTION.of(basis.summary)
    if not (basis.plan.hold_out or basis.sampled.is_modelled):
        return None
    evidence, cells = basis.sampled.evidence, basis.summary.cells
    links = DISTANCE.of(basis.summary).links
    return modelled(evidence, cells, links, floors_by_block(evidence.readings), basis.invalid)


QUESTION: Question[Modelled | None] = Question(
    name="prediction", type=Modelled, empty=None, find=_find, applies=is_no_search
)
