"""What a question is: something that a run answers beside which stack is fastest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import RunSummary
from orchestrator.results.folder import RunFolder

F = TypeVar("F")


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What questions are answered from.

    `evidence` is what was read of the samples of `run`, and `summary` has cells, checks, comparisons and the findings of
    earlier questions. `plan` has the cells of the summary, and `summary.plan` is as it was made, which differs where
    rates are searched for. `invalid`: names of failed checks, by cell. `is_modelled`: the caller wants its cost model.
    """

    run: RunFolder
    evidence: RunEvidence
    plan: Plan
    summary: RunSummary
    invalid: Mapping[str, tuple[str, ...]]
    is_modelled: bool = False


@dataclass(frozen=True, kw_only=True)
class Question(Generic[F]):
    """A question: `find` gives its findings, which are numbers and no sentences.

    `type` is that of its findings, `empty` means none. `applies` reads the plan as it was made.
    """

    name: str
    type: Any
    empty: F
    find: Callable[[Basis], F]
    applies: Callable[[Plan], bool] = lambda _: True

    def of(self, summary: RunSummary) -> F:
        """Return what a summary holds of this question."""
        finding: F = summary.findings.get(self.name, self.empty)
        return finding


def is_no_search(plan: Plan) -> bool:
    """Return whether cells are measured at loads that the plan names: not where rates are searched for."""
    return all(cell.find is None for cell in plan.cells)
