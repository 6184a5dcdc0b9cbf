"""What a reader must know beside the answer: how JSON travels, where a store spends time, which work a stack adds."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.experiment.plan.own import json_documents
from orchestrator.experiment.plan.own.running import externals_by_label, place_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import MeasuredRun, RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.distance import words as distance
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.languages.find import QUESTION as LANGUAGES
from orchestrator.questions.languages.words import sentence as of_languages
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.results.derive import JournalState
from orchestrator.wording import other_questions
from orchestrator.wording.grounds import crossings
from orchestrator.wording.tables import evolution

SHARED = "shared the machine with another measurement, which disturbs both"


def notes(summary: RunSummary) -> tuple[str, ...]:
    """Return what a reader must know beside the answer, a sentence each, the nearest to the question first."""
    every = (
        *(f"Not the same work: {sameness.sentence(each)}." for each in SAMENESS.of(summary)),
        *filter(None, map(of_languages, LANGUAGES.of(summary))),
        *other_questions.steadiest(summary),
        *crossings(AXES.of(summary)),
        evolution.sentence(summary.cells),
        json_documents.sentence(summary.plan),
        *_work(summary.plan),
    )
    return tuple(dict.fromkeys(filter(None, every)))


def warnings(summary: RunSummary) -> tuple[str, ...]:
    """Return what was warned of while the run was made, and the links that were not as configured, a sentence each."""
    off = (link for link in DISTANCE.of(summary) if link.why_not and link.measured is not None)
    links = (f"The link of {link.placement} was not as configured: {distance.clause(link)}." for link in off)
    return (*recorded(summary.run), *links)


def recorded(run: MeasuredRun | JournalState) -> tuple[str, ...]:
    """Return what was warned of while a run is made, or was."""
    return (*([SHARED] if run.shares_machine else []), *run.warnings)


def _work(plan: Plan) -> Iterator[str]:
    running = [f"{label} at {place_of(external)}" for label, external in externals_by_label(plan.stacks).items()]
    if running:
        yield (
            f"Not started by orch: {'; '.join(running)}. Version, CPU, settings and own work there are not known"
            " (no fresh process for each trial, no pinning, perhaps a proxy or tunnel)."
        )
    if omitted := _phrases(plan, "omits"):
        cost = "theirs is the cost of passing a message on, not of using it"
        yield f"Some stacks leave fields unread: {cost}. {'; '.join(omitted)}."
    if work := _phrases(plan, "adds"):
        yield f"These latencies include work that is not the protocol's. {'; '.join(work)}."


def _phrases(plan: Plan, key: str) -> list[str]:
    """`rest: fastapi validates every JSON body with pydantic models (starlette does not)`; stacks alike share one."""
    labels: dict[str, list[str]] = {}
    for stack in plan.stacks:
        if stack.control_of is None:
            for end in plan.resolved.get(stack.id, {}).get("own_work", ()):
                if key in end:
                    spared = f" ({end['without']} does not)" if key == "adds" and "without" in end else ""
                    labels.setdefault(f"{end['name']} {end[key]}{spared}", []).append(stack.label)
    return [f"{', '.join(dict.fromkeys(stacks_named))}: {phrase}" for phrase, stacks_named in labels.items()]
