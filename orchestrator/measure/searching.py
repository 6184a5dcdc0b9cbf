"""The searches of a run while it goes on: which rate is next, and whether the goals held at the one that was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.experiment.plan.plan import Cell, Plan, PlannedTrial
from orchestrator.experiment.plan.searches import at, next_step
from orchestrator.results.manifest import Probe, TrialRecord


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
        step = self._step(trial.cell, trial.block) if trial.cell in self._finds else None
        return cell if step is None else at(cell, step)

    def judged(self, record: TrialRecord, cell: Cell, raw_path: Callable[[str], Path]) -> TrialRecord:
        """The record with its part in the search, if it has one: `cell` is as `cell` gave it."""
        step, find = None, self._finds.get(record.cell)
        if find is not None:
            step = self._step(record.cell, record.block)
        if find is None or step is None:
            return record
        from orchestrator.questions.capacity.observe import verdict

        by_host: dict[str, list[Path]] = {}
        for part in record.requesters:
            if part.samples:
                by_host.setdefault(part.host, []).append(raw_path(part.samples))
        found = verdict(find, cell, record.failure, list(by_host.values()))
        return replace(record, probe=Probe(step=step, rate_per_s=find.rate(step), verdict=found))

    def _of(self, cell: str, block: int) -> list[Probe]:
        return self._tried.setdefault((cell, block // self._rounds), [])

    def _step(self, cell: str, block: int) -> int | None:
        tried = self._of(cell, block)
        if any(probe.verdict == "no result" for probe in tried):
            return None
        return next_step(self._finds[cell], [probe.verdict == "held" for probe in tried])
