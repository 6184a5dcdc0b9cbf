"""Why a cell stands in the tables without a ratio: stacks are compared with the reference, within one setting only."""

from __future__ import annotations

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY


def why_uncompared(cell: CellSummary, summary: RunSummary) -> str:
    """Why nothing is compared with this cell, nor it with anything, as a clause; empty where something is.

    A setting is an operation, a placement, a load and how requests are made.
    """
    if CAPACITY.of(summary).rates:
        return "rates that a search tried are not compared, but the rates that were found"
    if any(cell.id in (comparison.cell, comparison.reference_cell) for comparison in summary.comparisons):
        return ""
    by = [str(contrast["factor"]) for contrast in summary.plan.get("contrasts") or ({"factor": STACK},)]
    if STACK not in by:
        return f"no other cell differs from it in the {' or the '.join(by)} alone"
    reference = _reference(summary)
    if cell.stack == reference:
        subject, others = "no other stack was", [other for other in summary.cells if other.stack != reference]
    else:
        subject, others = "the reference was not", [other for other in summary.cells if other.stack == reference]
    if any(other.place == cell.place for other in others):
        return f"{subject} measured with {quantities.listed(phrases(cell.factors))}"
    return f"{subject} measured in this setting"


def _reference(summary: RunSummary) -> str:
    named = summary.plan.get("reference")
    first = summary.plan.get("stacks") or [{"id": summary.cells[0].stack}]
    return str(named or first[0]["id"])
