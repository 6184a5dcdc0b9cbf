"""Whether a run may end before its last block: decided between blocks, from its own trials, and written down."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from orchestrator.analysis import words
from orchestrator.experiment.plan.plan import Plan
from orchestrator.measure.run_context import RunContext
from orchestrator.results.manifest import DecisionRecord

if TYPE_CHECKING:
    from orchestrator.questions.until.find import Look


class Stopping:
    """The decisions of a run; of a plan with a fixed number of blocks there are none."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._decided: DecisionRecord | None = None

    @property
    def expected_trials(self) -> int:
        """How many trials the run is expected to make, those that were made included."""
        return expected_blocks(self._context.plan, self._decided) * len(self._context.plan.cells)

    def is_over(self, blocks: int) -> bool:
        """Whether the run ends after so many finished blocks, by their medians in the journal.

        What a session before has decided is computed anew, and written down where its journal was cut before it.
        """
        until = self._context.plan.until
        if until is None or not until.may_end(blocks):
            return False
        from orchestrator.questions.until.find import look

        journal_state = self._context.folder.journal_state()
        found = look(self._context.plan, journal_state.medians_by_block(), blocks)
        decision = self._decided = record(found)
        if journal_state.decisions.get(blocks) != decision:
            self._context.folder.append({"event": "decision", "decision": asdict(decision)})
            self._context.listener.progress(status(self._context.plan, decision))
        return found.reached


def record(look: Look) -> DecisionRecord:
    """A look as the journal keeps it."""
    return DecisionRecord(
        blocks=look.blocks, reached=look.reached, reaches=tuple(width.reaches for width in look.widths)
    )


def expected_blocks(plan: Plan, decision: DecisionRecord | None) -> int:
    """How many blocks a run is expected to make: by what its intervals were last, and at first by what is usual."""
    if plan.until is None:
        return plan.blocks
    from orchestrator.analysis.power import DEFAULT_SD
    from orchestrator.questions.until.find import expected_blocks as usual
    from orchestrator.questions.until.find import still_expected

    if decision is None:
        return usual(plan, DEFAULT_SD)
    return decision.blocks if decision.reached else still_expected(plan, decision.reaches, decision.blocks)


def status(plan: Plan, decision: DecisionRecord | None) -> str:
    """Where such a run stands: `block 7 of at most 30, widest interval ± 4.1 % of ± 3 % wanted`."""
    if plan.until is None or decision is None:
        return ""
    from orchestrator.questions.until.words import reach

    known = [reaches for reaches in decision.reaches if reaches is not None]
    place = f"block {decision.blocks} of at most {plan.until.at_most}"
    if len(known) < len(decision.reaches) or not known:
        return (
            f"{place}, {len(decision.reaches) - len(known)} of {len(decision.reaches)} intervals cannot be computed yet"
        )
    return f"{place}, widest interval {reach(max(known))} of ± {words.margin(plan.until.within)} wanted"
