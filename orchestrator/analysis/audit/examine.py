"""Examines a whole file: every figure, every table, every claim. A claim is no sounder than the figures it rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from orchestrator.analysis.audit.claim_forms import Claim
from orchestrator.analysis.audit.claims import check_claim
from orchestrator.analysis.audit.figures import RULES
from orchestrator.analysis.audit.finding import SEVERITY, AuditVerdict, Finding, worst
from orchestrator.analysis.audit.model import AuditFile
from orchestrator.analysis.audit.tables import TABLE_RULES

SCHEMA_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """All findings of a file: what its sentences claim first, then tables, then single figures, the gravest first."""

    title: str
    source: str | None
    claims: tuple[Finding, ...]
    figures: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was examined."""
        return (*self.claims, *self.figures)

    def count(self, verdict: AuditVerdict) -> int:
        """How many findings have that verdict."""
        return sum(f.verdict == verdict for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `orch audit --json`."""
        return {
            "schema_version": SCHEMA_VERSION,
            "title": self.title,
            "source": self.source,
            "summary": {verdict: self.count(verdict) for verdict in SEVERITY},
            "claims": [asdict(f) | {"about": "claim"} for f in self.claims]
            + [asdict(f) | {"about": "figure"} for f in self.figures],
        }


def examine(file: AuditFile) -> AuditResult:
    """Apply every rule that applies. Pure; the same file gives the same result."""
    figures = [f for row in file.results for rule in RULES if (f := rule(row, file)) is not None]
    tables = [f for rule in TABLE_RULES for f in rule(file)]
    unsound = {
        name: finding
        for finding in sorted(figures, key=lambda f: SEVERITY.index(f.verdict), reverse=True)
        if finding.verdict in ("impossible", "contradicted")
        for name in finding.rows
    }
    claims = [_examine_claim(claim, file, unsound) for claim in file.claims]
    ranked = sorted([*tables, *figures], key=lambda f: SEVERITY.index(f.verdict))
    return AuditResult(title=file.title, source=file.source, claims=tuple(claims), figures=tuple(ranked))


def _examine_claim(claim: Claim, file: AuditFile, unsound: dict[str, Finding]) -> Finding:
    if not claim.tests:
        return Finding(
            claim=claim.text,
            verdict="undetermined",
            rule="no figures",
            arithmetic="the publication gives no figures from which this sentence could be recomputed",
        )
    checked = [check_claim(claim, test, file) for test in claim.tests]
    findings = [_resting_on(finding, unsound) for finding in checked]
    gravest = worst(findings)
    if len(findings) == 1:
        return gravest
    words = " | ".join(
        f"{f.verdict}{'' if f.verdict == alone.verdict else ' by what it rests on'}: {f.arithmetic}"
        for f, alone in zip(findings, checked, strict=True)
    )
    rows = tuple(dict.fromkeys(name for f in findings for name in f.rows))
    return replace(gravest, arithmetic=words, rows=rows)


def _resting_on(finding: Finding, unsound: dict[str, Finding]) -> Finding:
    """A claim whose arithmetic holds, but which reads figures that can't be what they are said to be, is not supported."""
    bad = [name for name in finding.rows if name in unsound]
    if finding.verdict != "supported" or not bad:
        return finding
    reasons = ", ".join(f"{name} is {unsound[name].verdict} ({unsound[name].rule})" for name in bad)
    gravest = worst([unsound[name] for name in bad])
    return replace(
        finding,
        verdict="contradicted",
        tolerance=gravest.tolerance,
        honest_explanation=gravest.honest_explanation,
        arithmetic=f"{finding.arithmetic}; but the claim rests on {gravest.verdict} figures: {reasons}",
    )
