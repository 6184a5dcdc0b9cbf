"""What an audit says of one claim, and the rules by name: tolerance, and what an honest explanation would have to be."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from orchestrator.audit.model import AuditFile, Row

AuditVerdict = Literal["supported", "contradicted", "impossible", "undetermined"]

# From the most to the least serious; a claim that rests on a figure is no better than the figure.
SEVERITY: tuple[AuditVerdict, ...] = ("impossible", "contradicted", "undetermined", "supported")

ACCUSING: tuple[AuditVerdict, ...] = ("impossible", "contradicted")


@dataclass(frozen=True)
class Rule:
    """A rule's name, how far figures may be off before it accuses, and what else would have to be true if it is wrong."""

    name: str
    tolerance: str
    honest: str


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """One claim (a sentence, or a figure of a table), the rule that examined it, and the arithmetic in words.

    An accusation also carries the rule's `tolerance` and the `honest_explanation` that would refute it.
    """

    claim: str
    verdict: AuditVerdict
    rule: str
    arithmetic: str
    rows: tuple[str, ...] = ()
    tolerance: str = ""
    honest_explanation: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The arithmetic of each test by itself, or the steps of a single one, for reading."""
        return tuple(self.arithmetic.split(" | " if " | " in self.arithmetic else "; "))


def judge(rule: Rule, verdict: AuditVerdict, arithmetic: str, *, claim: str, rows: tuple[str, ...] = ()) -> Assessment:
    """A rule's assessment; tolerance and honest explanation are added where it accuses."""
    accuses = verdict in ACCUSING
    return Assessment(
        claim=claim,
        verdict=verdict,
        rule=rule.name,
        arithmetic=arithmetic,
        rows=rows,
        tolerance=rule.tolerance if accuses else "",
        honest_explanation=rule.honest if accuses else "",
    )


def gravest(verdicts: Collection[AuditVerdict]) -> AuditVerdict:
    """The most serious of some verdicts."""
    return min(verdicts, key=SEVERITY.index)


def worst(assessments: list[Assessment]) -> Assessment:
    """The most serious of some assessments."""
    return min(assessments, key=lambda f: SEVERITY.index(f.verdict))


Outcome = tuple[AuditVerdict, str]
"""A verdict, and the arithmetic in words."""
RowRule = Callable[[Row, AuditFile], Outcome | None]
