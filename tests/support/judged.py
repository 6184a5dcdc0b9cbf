"""What the checks say of a run."""

from __future__ import annotations

from orchestrator.findings.check_result import CheckResult, CheckVerdict, by_check
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise


def verdicts(run: RunFolder) -> dict[str, CheckVerdict]:
    """The worst verdict of each check."""
    return by_check(summarise(run).checks)


def of(run: RunFolder, name: str) -> list[CheckResult]:
    """The results of one check, the worst cell first."""
    return [result for result in summarise(run).checks if result.name == name]
