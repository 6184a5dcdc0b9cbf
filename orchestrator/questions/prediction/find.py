"""The cost model of a whole run: read, fitted, and held against its sealed cells. Pure."""

from __future__ import annotations

from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.find import floors_by_block
from orchestrator.questions.prediction.cells import read, refusals
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.shapes import Modelled


def _find(basis: Basis) -> Modelled | None:
    """Every series with its model, or with the reason why it has none, where the plan or the caller wants the cost model.

    Invalid cells are neither fitted nor sealed.
    """
    run, plan, links = basis.evidence, basis.plan, DISTANCE.of(basis.summary)
    if not (plan.hold_out or basis.is_modelled):
        return None
    series, measured = read(run, basis.summary.cells, floors_by_block(run.readings), basis.invalid)
    if why := refusals(run, links, measured):
        return Modelled(series=series, fits=(), judged=None, refusals=why, not_fitted={})
    fits, not_fitted = fit_all(series, measured)
    return Modelled(
        series=series,
        fits=fits,
        judged=judged(fits, measured, run.plan.matters, len(run.plan.sealed)),
        refusals=(),
        not_fitted=not_fitted,
    )


QUESTION: Question[Modelled | None] = Question(
    name="prediction", type=Modelled, empty=None, find=_find, applies=is_no_search
)
