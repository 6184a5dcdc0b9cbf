"""What the checks say of a run."""

from __future__ import annotations

from orchestrator.evidence.run_evidence import Run
from orchestrator.findings.check_result import CheckResult, CheckVerdict, by_check
from orchestrator.summarise import summarise


def verdicts(run: Run) -> dict[str, CheckVerdict]:
    """The worst verdict of each check."""
    return by_check(summarise(run).checks)


def of(run: Run, name: str) -> list[CheckResult]:
    """The results of one check, the worst cell first."""
    return [result for result in summarise(run).checks if result.name == name]
