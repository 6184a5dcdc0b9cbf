"""The questions that runs answer beside which stack is fastest, in the order in which they are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from orchestrator.questions.axes import find as axes
from orchestrator.questions.base import Basis, Question
from orchestrator.questions.capacity import find as capacity
from orchestrator.questions.distance import find as distance
from orchestrator.questions.languages import find as languages
from orchestrator.questions.prediction import find as prediction
from orchestrator.questions.sameness import find as sameness
from orchestrator.questions.saturation import find as saturation
from orchestrator.questions.stability import find as stability
from orchestrator.questions.stalls import find as stalls
from orchestrator.questions.until import find as until
from orchestrator.shapes import decode_json

# A question may read the findings of those before it: a prediction those of distances.
QUESTIONS: tuple[Question[Any], ...] = (
    sameness.QUESTION,
    until.QUESTION,
    axes.QUESTION,
    distance.QUESTION,
    saturation.QUESTION,
    stalls.QUESTION,
    capacity.QUESTION,
    stability.QUESTION,
    languages.QUESTION,
    prediction.QUESTION,
)


def find(basis: Basis) -> dict[str, Any]:
    """Return the findings of every question that applies to a run, by its name; questions without findings are left out."""
    findings: dict[str, Any] = {}
    for question in QUESTIONS:
        if question.applies(basis.summary.plan):
            finding = question.find(replace(basis, summary=replace(basis.summary, findings=dict(findings))))
            if finding != question.empty:
                findings[question.name] = finding
    return findings


def decoded(findings: Mapping[str, Any]) -> dict[str, Any]:
    """Return findings as JSON has them in their types; ValueError names a question or a key that nobody knows."""
    types = {question.name: question.type for question in QUESTIONS}
    if unknown := findings.keys() - types.keys():
        raise ValueError(f"findings: no question is called {sorted(unknown)[0]!r}")
    return {name: decode_json(types[name], finding) for name, finding in findings.items()}
