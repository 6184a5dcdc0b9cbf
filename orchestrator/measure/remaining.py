"""Which trials of the schedule are still to be made: rates of a search, and blocks until intervals are narrow enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from orchestrator import quantities
from orchestrator.experiment.plan.loads import at_step, next_step
from orchestrator.experiment.plan.plan import Cell, Plan, PlannedTrial
from orchestrator.measure.run_context import RunContext
from orchestrator.results.manifest import DecisionRecord, Probe, TrialRecord


class Searching:
    """Every search of a plan; of a plan without one, all trials are needed as they are planned."""

    def __init__(self, plan: Plan) -> None:
        self._rounds = plan.rounds
        self._finds = {cell.id: cell.find for cell in plan.cells if cell.find is not None}
        self._tried: dict[tuple[str, int], list[Probe]] = {}  # by cell and repeat, in order

    def take(self, record: TrialRecord) -> None:
        """A trial that counts has ended; those of a search in their order."""
        if record.probe is not None:
            self._of(record.cell, record.block).append(record.probe)

    def still_needed(self, trials: Sequence[PlannedTrial]) -> tuple[PlannedTrial, ...]:
        """The trials whose searches are not over."""
        return tuple(t for t in trials if t.cell not in self._finds or self._step(t.cell, t.block) is not None)

    def cell(self, trial: PlannedTrial, cell: Cell) -> Cell:
        """The cell as this trial measures it: with a search at the rate that is next."""
        step = self._step(trial.cell, trial.block)
        return cell if step is None else at_step(cell, step)

    def judged(self, record: TrialRecord, cell: Cell, raw_path: Callable[[str], Path]) -> TrialRecord:
        """The record with its part in the search, if it has one: `cell` is as `cell` gave it."""
        step, find = self._step(record.cell, record.block), self._finds.get(record.cell)
        if find is None or step is None:
            return record
        from orchestrator.questions.capacity.observe import verdict

        by_host: dict[str, list[Path]] = {}
        for part in record.requesters:
            if part.samples:
                by_host.setdefault(part.host, []).append(raw_path(part.samples))
        result = verdict(find, cell, record.failure, list(by_host.values()))
        return replace(record, probe=Probe(step=step, rate_per_s=find.rate(step), verdict=result))

    def _of(self, cell: str, block: int) -> list[Probe]:
        return self._tried.setdefault((cell, block // self._rounds), [])

    def _step(self, cell: str, block: int) -> int | None:
        tried = self._of(cell, block)
        if cell not in self._finds or any(probe.verdict == "no result" for probe in tried):
            return None
        return next_step(self._finds[cell], [probe.verdict == "held" for probe in tried])


def is_over(context: RunContext, blocks: int) -> bool:
    """Whether the run ends after so many finished blocks, by their medians in the journal; of a fixed number never before.

    What a session before has decided is computed anew, and written down where its journal was cut before it.
    """
    until = context.plan.until
    if until is None or not until.may_end(blocks):
        return False
    from orchestrator.questions.until.find import look

    journal_state = context.folder.journal_state()
    widths = look(context.plan, journal_state.medians_by_block(), blocks)
    reaches = tuple(width.reaches for width in widths.widths)
    decision = DecisionRecord(blocks=widths.blocks, reached=widths.reached, reaches=reaches)
    if journal_state.decisions.get(blocks) != decision:
        context.folder.append({"event": "decision", "decision": asdict(decision)})
        context.listener.progress(status(context.plan, decision))
    return widths.reached


def status(plan: Plan, decision: DecisionRecord | None) -> str:
    """Return how far such a run is: `block 7 of at most 30, widest interval ± 4.1 % of ± 3 % wanted`."""
    if plan.until is None or decision is None:
        return ""
    known = [reaches for reaches in decision.reaches if reaches is not None]
    place = f"block {decision.blocks} of at most {plan.until.at_most}"
    if len(known) < len(decision.reaches) or not known:
        return (
            f"{place}, {len(decision.reaches) - len(known)} of {len(decision.reaches)} intervals cannot be computed yet"
        )
    return f"{place}, widest interval {reach(max(known))} of ± {quantities.margin(plan.until.within)} wanted"


# ---- in words


def reach(share: float) -> str:
    """Return how far an interval reaches: `± 4.1 %`, `± 120 %`, and `more than ± 900 %` of all that is wider."""
    if share > quantities.MOST_CHANGE:
        return f"more than ± {quantities.percent(quantities.MOST_CHANGE)}"
    return f"± {quantities.percent(share)}"
