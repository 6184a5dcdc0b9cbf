"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

CheckVerdict = Literal["pass", "not applicable", "cannot tell", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """A named test of the run's validity. `cell` is None for a check of the whole run."""

    name: str
    verdict: CheckVerdict
    severity: Literal["fatal", "serious", "note"]
    cell: str | None
    evidence: dict[str, Any]
    explanation: str
    action: str
