"""What the rules on single rows share."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.analysis.audit.assessment import Assessment, AuditVerdict, Rule, judge
from orchestrator.analysis.audit.model import AuditFile, Row

RowRule = Callable[[Row, AuditFile], Assessment | None]


def about(row: Row, rule: Rule, verdict: AuditVerdict, arithmetic: str) -> Assessment:
    """An assessment of the row's own figures, with them as evidence."""
    figures = {
        key: value
        for key, value in row.model_dump(exclude_none=True).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    claim = f"{row.name}: the published figures"
    return judge(rule, verdict, arithmetic, claim=claim, rows=(row.name,), evidence=figures)
