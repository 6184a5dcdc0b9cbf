"""What a reader must know beside the answer: how JSON travels, where a store spends time, which work a stack adds."""

from __future__ import annotations

from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.own import own_json
from orchestrator.experiment.plan.plan import stack_of
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity import words as capacity_words
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.evolution import words as evolution
from orchestrator.questions.languages.find import QUESTION as LANGUAGES
from orchestrator.questions.languages.words import sentence as of_languages
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.questions.stores import words as store_words
from orchestrator.wording import other_questions
from orchestrator.wording.grounds import crossings


def notes(summary: RunSummary) -> tuple[str, ...]:
    """Return what a reader must know beside the answer, a sentence each, the nearest to the question first."""
    stacks = [stack_of(stack) for stack in summary.plan.get("stacks", ())]
    every = (
        *(f"Not the same work: {sameness.sentence(each)}." for each in SAMENESS.of(summary)),
        *filter(None, map(of_languages, LANGUAGES.of(summary))),
        *(ways[0] for ways in other_questions.steadiest(summary)),
        *crossings(AXES.of(summary)),
        *map(capacity_words.sentence, CAPACITY.of(summary).rates),
        evolution.sentence(summary.cells),
        store_words.sentence(summary.cells),
        own_json.sentence(summary.plan),
        *contrasts.work_sentences(stacks, summary.plan.get("resolved", {})),
    )
    return tuple(dict.fromkeys(filter(None, every)))
