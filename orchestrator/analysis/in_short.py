"""What a run found, as plain sentences: for whatever shows them outside of the answer itself."""

from __future__ import annotations

from orchestrator.analysis.answer import first_sentence
from orchestrator.analysis.summary import RunSummary

NOTHING = "No verdict: too little was measured."


def sentences(summary: RunSummary) -> tuple[str, ...]:
    """The short answer, its first sentence first; of a summary that an earlier orch wrote, its first verdict."""
    if summary.conclusion is not None:
        return summary.conclusion.sentence, *summary.conclusion.more
    if not summary.verdicts:
        return (NOTHING,)
    first, rest = first_sentence(summary.verdicts[0])
    return (first, rest) if rest else (first,)
