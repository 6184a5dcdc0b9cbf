"""Examines a whole file: every figure, every table, every claim. A claim is no sounder than the figures it rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from orchestrator.audit import load_rules, network_rules, shape_rules
from orchestrator.audit.assessment import SEVERITY, Assessment, AuditVerdict, RowRule, Rule, judge, worst
from orchestrator.audit.claim_forms import Claim
from orchestrator.audit.claims import check_claim
from orchestrator.audit.method import why_unsupported
from orchestrator.audit.model import AuditFile

RULES: tuple[tuple[Rule, RowRule], ...] = (
    (shape_rules.ORDER, shape_rules.order),
    (shape_rules.SPREAD, shape_rules.spread),
    (shape_rules.MEAN, shape_rules.mean_in_percentiles),
    (network_rules.BELOW_PING, network_rules.below_the_ping),
    (network_rules.DISTANCE, network_rules.distance),
    (network_rules.ROUND_TRIPS, network_rules.round_trips),
    (network_rules.LINK_LOAD, network_rules.link_load),
    (shape_rules.RAMP, shape_rules.uniform_ramp),
    (load_rules.IN_FLIGHT, load_rules.in_flight),
    (load_rules.LITTLE, load_rules.littles_law),
)

SCHEMA_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """All assessments of a file: what its sentences claim first, then tables, then single figures, the gravest first."""

    title: str
    source: str | None
    claims: tuple[Assessment, ...]
    figures: tuple[Assessment, ...]

    @property
    def assessments(self) -> tuple[Assessment, ...]:
        """Everything that was examined."""
        return (*self.claims, *self.figures)

    def count(self, verdict: AuditVerdict) -> int:
        """How many assessments have that verdict."""
        return sum(f.verdict == verdict for f in self.assessments)

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
    figures = [
        _of_replies(judge(rule, *outcome, claim=f"{row.name}: the published figures", rows=(row.name,)), file)
        for row in file.results
        for rule, test in RULES
        if (outcome := test(row, file)) is not None
    ]
    tables = [_of_replies(template, file)] if (template := shape_rules.tail_template(file)) else []
    unsound = {
        name: assessment
        for assessment in sorted(figures, key=lambda f: SEVERITY.index(f.verdict), reverse=True)
        if assessment.verdict in ("impossible", "contradicted")
        for name in assessment.rows
    }
    claims = [_examine_claim(claim, file, unsound) for claim in file.claims]
    ranked = sorted([*tables, *figures], key=lambda f: SEVERITY.index(f.verdict))
    return AuditResult(title=file.title, source=file.source, claims=tuple(claims), figures=tuple(ranked))


def _examine_claim(claim: Claim, file: AuditFile, unsound: dict[str, Assessment]) -> Assessment:
    if not claim.tests:
        return Assessment(
            claim=claim.text,
            verdict="undetermined",
            rule="no figures",
            arithmetic="the publication gives no figures from which this sentence could be recomputed",
        )
    checked = [_of_replies(check_claim(claim, test, file), file) for test in claim.tests]
    assessments = [_resting_on(assessment, unsound) for assessment in checked]
    gravest = worst(assessments)
    if len(assessments) == 1:
        return gravest
    words = " | ".join(
        f"{f.verdict}{'' if f.verdict == alone.verdict else ' by what it rests on'}: {f.arithmetic}"
        for f, alone in zip(assessments, checked, strict=True)
    )
    rows = tuple(dict.fromkeys(name for f in assessments for name in f.rows))
    return replace(gravest, arithmetic=words, rows=rows)


def _of_replies(assessment: Assessment, file: AuditFile) -> Assessment:
    """Return the assessment; undetermined where it would be supported by figures of requests that failed."""
    reasons = [reason for name in assessment.rows if (reason := why_unsupported(file.row(name), file))]
    if assessment.verdict != "supported" or not reasons:
        return assessment
    words = f"{assessment.arithmetic}; figures of failed requests support nothing: {', '.join(reasons)}"
    return replace(assessment, verdict="undetermined", arithmetic=words)


def _resting_on(assessment: Assessment, unsound: dict[str, Assessment]) -> Assessment:
    """Return a claim as contradicted where its arithmetic holds, but for figures that cannot be what they claim to be."""
    bad = [name for name in assessment.rows if name in unsound]
    if assessment.verdict != "supported" or not bad:
        return assessment
    reasons = ", ".join(f"{name} is {unsound[name].verdict} ({unsound[name].rule})" for name in bad)
    gravest = worst([unsound[name] for name in bad])
    return replace(
        assessment,
        verdict="contradicted",
        tolerance=gravest.tolerance,
        honest_explanation=gravest.honest_explanation,
        arithmetic=f"{assessment.arithmetic}; but the claim rests on {gravest.verdict} figures: {reasons}",
    )
