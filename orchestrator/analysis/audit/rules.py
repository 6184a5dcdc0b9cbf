"""What the rules on single rows share."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.analysis.audit.finding import AuditVerdict, Finding, Rule, judge
from orchestrator.analysis.audit.model import AuditFile, Row

RowRule = Callable[[Row, AuditFile], Finding | None]


def about(row: Row, rule: Rule, verdict: AuditVerdict, arithmetic: str) -> Finding:
    """A finding on the row's own figures, with them as evidence."""
    figures = {
        key: value
        for key, value in row.model_dump(exclude_none=True).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    claim = f"{row.name}: the published figures"
    return judge(rule, verdict, arithmetic, claim=claim, rows=(row.name,), evidence=figures)
