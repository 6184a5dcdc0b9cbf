"""What a reader must know beside the answer: how JSON travels, where a store spends time, which work a stack adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator import quantities
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.cells import beyond_defaults
from orchestrator.experiment.plan.own import own_json
from orchestrator.experiment.plan.plan import stack_of
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.evolution import words as evolution
from orchestrator.questions.languages.find import QUESTION as LANGUAGES
from orchestrator.questions.languages.words import sentence as of_languages
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.wording import other_questions
from orchestrator.wording.grounds import crossings


def notes(summary: RunSummary) -> tuple[str, ...]:
    """Return what a reader must know beside the answer, a sentence each, the nearest to the question first."""
    stacks = [stack_of(stack) for stack in summary.plan.get("stacks", ())]
    every = (
        *(f"Not the same work: {sameness.sentence(each)}." for each in SAMENESS.of(summary)),
        *filter(None, map(of_languages, LANGUAGES.of(summary))),
        *other_questions.steadiest(summary),
        *crossings(AXES.of(summary)),
        evolution.sentence(summary.cells),
        own_json.sentence(summary.plan),
        library_defaults(summary.plan),
        *contrasts.work_sentences(stacks, summary.plan.get("resolved", {})),
    )
    return tuple(dict.fromkeys(filter(None, every)))


def library_defaults(plan: Mapping[str, Any]) -> str:
    """Name the cells beyond a default of common libraries, which users of these would meet; empty without one."""
    stacks = {stack["id"]: stack["label"] for stack in plan.get("stacks", ())}
    operations = {operation["id"]: operation["label"] for operation in plan.get("operations", ())}
    cells = {
        cell["id"]: f"{stacks[cell['stack']]} at {operations[cell['operation']]}" for cell in plan.get("cells", ())
    }
    clauses = [
        f"{default} ({quantities.listed(list(dict.fromkeys(cells[cell] for cell in beyond)))})"
        for default, beyond in beyond_defaults(plan).items()
    ]
    return f"Limits raised here that common libraries have by default: {'; '.join(clauses)}." if clauses else ""
