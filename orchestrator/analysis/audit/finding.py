"""What an audit says of one claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AuditVerdict = Literal["supported", "contradicted", "impossible", "cannot-tell"]

# From the most to the least serious; a claim that rests on a figure is no better than the figure.
SEVERITY: tuple[AuditVerdict, ...] = ("impossible", "contradicted", "cannot-tell", "supported")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One claim (a sentence, or a figure of a table), the rule that examined it, and the arithmetic in words."""

    claim: str
    verdict: AuditVerdict
    rule: str
    arithmetic: str
    rows: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The arithmetic of each test by itself, or the steps of a single one, for reading."""
        return tuple(self.arithmetic.split(" | " if " | " in self.arithmetic else "; "))


def worst(findings: list[Finding]) -> Finding:
    """The most serious of some findings."""
    return min(findings, key=lambda f: SEVERITY.index(f.verdict))
