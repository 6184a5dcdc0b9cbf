"""What a question is: something that a run answers beside which stack is fastest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from orchestrator.evidence.run_evidence import Run, RunEvidence
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import RunSummary

F = TypeVar("F")


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A run whose samples were read just now, and what was read; `is_modelled`: its cost model is wanted by the caller."""

    run: Run
    evidence: RunEvidence
    is_modelled: bool = False


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What questions are answered from.

    `summary` has cells, checks, comparisons and the findings of earlier questions. `plan` has the cells of the summary, and
    `searched` is the plan of a run that searches for rates, as it was made. `sampled` is None where a stored summary is
    judged again. `invalid`: names of failed checks, by cell.
    """

    plan: Plan
    searched: Plan | None
    summary: RunSummary
    invalid: Mapping[str, tuple[str, ...]]
    sampled: Sampled | None = None


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
