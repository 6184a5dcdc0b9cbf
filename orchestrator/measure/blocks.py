"""The measuring itself: block after block, placement after placement, trial after trial, floors in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any, TypeAlias

from orchestrator.experiment.model.factors import requesters_of
from orchestrator.experiment.plan.plan import Cell, Plan, PlannedTrial, Turns
from orchestrator.experiment.plan.schedule import orders_of_turns
from orchestrator.measure.baselines import Baselines
from orchestrator.measure.interrupts import OutOfTime
from orchestrator.measure.progress import Progress, duration, trial_seconds
from orchestrator.measure.refereeing import Refereeing
from orchestrator.measure.remaining import Searching, is_over
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.trial import TrialRun
from orchestrator.measure.turns import Member, take_turns
from orchestrator.results.manifest import REPEATED, Failure, RequesterRecord, TrialRecord
from orchestrator.results.records import written
from orchestrator.results.turn_times import TurnTime, measured_outside, stolen_beside

Shares: TypeAlias = list[tuple[str, tuple[PlannedTrial, ...]]]
"""The trials of a block by placement, in the schedule's order."""


def blocks(plan: Plan) -> Iterator[tuple[int, Shares]]:
    """The schedule by block and placement, both contiguous in it: a block has one trial of every cell."""
    placement = {cell.id: cell.placement for cell in plan.cells}
    for number, of_block in groupby(plan.trials, key=lambda trial: trial.block):
        yield number, [(name, tuple(trials)) for name, trials in groupby(of_block, key=lambda t: placement[t.cell])]


class Measuring:
    """Makes the schedule's trials, from where an earlier session left it."""

    def __init__(self, context: RunContext, *, deadline_s: float, referee: Refereeing | None = None) -> None:
        self._context = context
        self._referee = referee or Refereeing(context, {})
        self._deadline_s = deadline_s
        self._progress = Progress(
            listener=context.listener,
            clock=context.clock,
            total=len(context.plan.trials),
            trial_s=trial_seconds(context.plan),
            deadline_s=deadline_s,
            at_most=context.plan.until is not None,
        )
        self._searching = Searching(context.plan)

    def run(self) -> bool:
        """Measure every block that is needed and not finished yet; whether that was completed within the wall time."""
        journal_state = self._context.folder.journal_state()
        for record in journal_state.trials:
            if record.block in journal_state.finished_blocks:
                self._searching.take(record)
        try:
            for block, shares in blocks(self._context.plan):
                if block in journal_state.finished_blocks:
                    self._progress.skip(sum(len(trials) for _, trials in shares))
                else:
                    self._block(block, shares, attempt=journal_state.attempts.get(block, -1) + 1)
                if is_over(self._context, block + 1):
                    break
        except OutOfTime:
            done, total = self._progress.done, self._progress.total
            until = self._context.plan.until
            if until is not None and until.or_slower:  # a gate: its time is used as it is meant to be
                return False
            self._context.warn(
                f"stopped after {done} of {total} trials: limits.wall is used up "
                f"({duration(self._context.plan.limits.wall_s)}); `orch run --resume` continues the run"
            )
            return False
        return True

    def _block(self, block: int, shares: Shares, *, attempt: int) -> None:
        folder = self._context.folder
        folder.append({"event": "block", "block": block, "attempt": attempt})
        folder.drop_repeated()
        if attempt:
            self._context.warn(REPEATED.format(block + 1))
        for placement, planned in shares:
            trials = self._searching.still_needed(planned)
            self._progress.skip(len(planned) - len(trials))
            if not trials:
                continue  # the searches of this placement are over
            cells = [self._context.cells[t.cell] for t in trials]
            baselines = Baselines(self._context, placement, cells, block=block, attempt=attempt)
            self._group(trials, baselines, attempt)
        folder.append({"event": "block-end", "block": block, "attempt": attempt})
        folder.convert()

    def _group(self, trials: tuple[PlannedTrial, ...], baselines: Baselines, attempt: int) -> None:
        self._may_go_on()
        if all(self._is_broken(trial) for trial in trials):
            for trial in trials:  # none is made, so there is nothing that a floor could stand beside
                self._trial(trial, attempt)
            return
        groups, alone = self._by_group(trials)
        baselines.in_turns = frozenset(trial.cell for group in groups for trial in group)
        baselines.take("before")
        for group in groups:
            self._may_go_on()
            self._take_turns(group, baselines, attempt)
        for trial in alone:
            self._may_go_on()
            if baselines.are_due:
                baselines.take("during")
            self._trial(trial, attempt)
        self._context.interrupts.checkpoint()
        baselines.take("after")

    def _by_group(
        self, trials: Sequence[PlannedTrial]
    ) -> tuple[list[tuple[PlannedTrial, ...]], tuple[PlannedTrial, ...]]:
        """The trials that take turns, by group, and the others; with a referee beside them none takes turns."""
        groups: dict[int, list[PlannedTrial]] = {}
        for trial in trials:
            turns = self._turns(self._context.cells[trial.cell])
            if turns is not None and not self._is_broken(trial) and self._context.referee is None:
                groups.setdefault(turns.group, []).append(trial)
        together = [tuple(group) for group in groups.values() if len(group) > 1]
        in_turns = {trial.index for group in together for trial in group}
        return together, tuple(trial for trial in trials if trial.index not in in_turns)

    def _take_turns(self, trials: Sequence[PlannedTrial], baselines: Baselines, attempt: int) -> None:
        """Make the trials of a group, whose cells take turns with each other and with their floors."""
        context = self._context
        cells = [context.cells[trial.cell] for trial in trials]
        members = [self._member(trial, cell, attempt) for trial, cell in zip(trials, cells, strict=True)]
        rounds = max(member.turns_in_block for member in members)
        turns = self._turns(cells[0])
        group = turns.group if turns else 0
        floors = baselines.members([cell.id for cell in cells], rounds)
        orders = orders_of_turns(context.plan.seed, trials[0].block, group, len(members) + len(floors), rounds)
        self._progress.begin(f"{len(members)} cells in turns", trials=len(members))

        def checkpoint(number: int) -> None:
            self._may_go_on()
            self._progress.in_round(number, rounds)

        outcomes = take_turns([*members, *floors], orders, checkpoint)
        for floor, outcome in zip(floors, outcomes[len(members) :], strict=True):
            baselines.keep(floor, outcome)
        stolen = stolen_beside(turn for member in (*members, *floors) for turn in member.turns)
        for trial, cell, member, outcome in zip(trials, cells, members, outcomes, strict=False):
            self._progress.begin(context.label(cell), cell.kind)
            record = self._recorded(trial, cell, attempt, outcome, member.turns)
            turns = self._turns(cell)
            fitted = None if turns == cell.turns else turns
            record = replace(record, rest_cpu_s=member.rest_cpu_s, fitted_turns=fitted, stolen_beside=stolen)
            self._note(trial, cell, record)

    def _member(self, trial: PlannedTrial, cell: Cell, attempt: int) -> Member:
        context, turns = self._context, self._turns(cell)
        assert turns is not None  # noqa: S101 - narrows the type
        ask = context.ask(cell, trial.seed)
        trial_run = context.bench().prepare(
            replace(ask, load=turns.load_of(ask.load), turn_warm_up=turns.warm_up),
            context.hosts.pair(cell.placement).asked_from(requesters_of(cell.factors)),
            f"t{trial.index:04}-a{attempt}",
        )
        return Member(trial=trial_run, turns_in_block=turns.in_block)

    def _turns(self, cell: Cell) -> Turns | None:
        return self._context.turns.get(cell.id, cell.turns)

    def _is_broken(self, trial: PlannedTrial) -> bool:
        cell = self._context.cells[trial.cell]
        return cell.exchange in self._context.broken

    def _may_go_on(self) -> None:
        self._context.interrupts.checkpoint()
        if self._context.clock.monotonic_s() >= self._deadline_s:
            raise OutOfTime

    def _trial(self, trial: PlannedTrial, attempt: int) -> None:
        context, cell = self._context, self._searching.cell(trial, self._context.cells[trial.cell])
        broken = context.broken.get(cell.exchange)
        if not broken:
            self._referee.take_turn(trial, cell, attempt, before=True)
        self._progress.begin(context.label(cell), cell.kind)
        record = self._left_out(trial, attempt, broken) if broken else self._made(trial, cell, attempt)
        self._note(trial, cell, record)
        if not broken:
            self._referee.take_turn(trial, cell, attempt, before=False)

    def _note(self, trial: PlannedTrial, cell: Cell, record: TrialRecord) -> None:
        """Keep a trial that was made, or left out, in the journal."""
        context, broken = self._context, self._is_broken(trial)
        record = self._searching.judged(record, cell, context.folder.raw_path)
        if record.failure is not None and not broken:
            words = f"{record.failure.message}\n\n{record.failure.last_words}"
            context.folder.log(f"trial-{trial.index:04}-a{record.attempt}.txt", words)
        context.folder.append({"event": "trial", "trial": asdict(record), **self._of_records(record, cell)})
        self._searching.take(record)
        self._progress.end(record)
        if record.failure is not None and not broken:
            context.refuse_to_go_on_without_hosts()

    def _of_records(self, record: TrialRecord, cell: Cell) -> dict[str, Any]:
        """What the journal keeps of a trial's raw records, made while nothing is measured: the medians."""
        folder, paths = self._context.folder, [part.samples for part in record.requesters if part.samples]
        if not paths:
            return {}
        from orchestrator.evidence.trial_median import trial_median

        median = trial_median(cell, [folder.raw_path(path) for path in paths], record)
        if median is None:
            return {"median_ns": None}
        turns = {"turn_medians_ms": median.turns} if median.turns else {}
        return {"median_ns": median.median, **turns}

    def _made(self, trial: PlannedTrial, cell: Cell, attempt: int) -> TrialRecord:
        context = self._context
        outcome = context.bench(self._progress.heard).make(
            context.ask(cell, trial.seed),
            context.hosts.pair(cell.placement).asked_from(requesters_of(cell.factors)),
            f"t{trial.index:04}-a{attempt}",
        )
        return self._recorded(trial, cell, attempt, outcome)

    def _recorded(
        self,
        trial: PlannedTrial,
        cell: Cell,
        attempt: int,
        outcome: TrialRun,
        turns: Sequence[TurnTime] = (),
    ) -> TrialRecord:
        """What the journal keeps of a trial, with its records brought here."""
        requesters, failure = self._collected(outcome, trial, cell, attempt, turns)
        return TrialRecord(
            index=trial.index,
            block=trial.block,
            cell=trial.cell,
            attempt=attempt,
            outcome="ok" if failure is None else "failed",
            started_wall_ns=outcome.started_wall_ns,
            ended_wall_ns=outcome.ended_wall_ns,
            ready=outcome.target.ready,
            stats=outcome.stats,
            stats_before=outcome.stats_before,
            stats_warm=outcome.stats_warm,
            requesters=requesters,
            beside_cpu_s=outcome.beside_cpu_s,
            failure=failure,
            turns=tuple(turns),
        )

    def _collected(
        self, outcome: TrialRun, trial: PlannedTrial, cell: Cell, attempt: int, turns: Sequence[TurnTime]
    ) -> tuple[tuple[RequesterRecord, ...], Failure | None]:
        """Bring the records home; a failed trial has none that count."""
        failure = outcome.failure
        name = f"b{trial.block:03}-t{trial.index:04}-a{attempt}"
        paths = [f"samples/cell={cell.id}/{name}-r{number}.parquet" for number in range(len(outcome.parts))]
        if failure is None:
            try:
                for part, path in zip(outcome.parts, paths, strict=True):
                    self._context.bring(part.host, part.record, path, cell)
            except (FileNotFoundError, ValueError) as error:
                failure = Failure(stage="collect", kind="no-record", message=str(error))
        if failure is None and turns:
            raw = self._context.folder.raw_path(paths[0])
            if outside := sum(measured_outside(rows, turns) for rows in written(raw, kind=None)):
                failure = Failure(stage="collect", kind="protocol", message=f"{outside} requests outside of its turns")
        samples = paths if failure is None else [None] * len(paths)
        parts = zip(outcome.parts, samples, strict=True)
        return tuple(replace(part.requester, samples=path) for part, path in parts), failure

    def _left_out(self, trial: PlannedTrial, attempt: int, failure: Failure) -> TrialRecord:
        now_ns = self._context.clock.wall_ns()
        return TrialRecord(
            index=trial.index,
            block=trial.block,
            cell=trial.cell,
            attempt=attempt,
            outcome="failed",
            started_wall_ns=now_ns,
            ended_wall_ns=now_ns,
            failure=failure,
        )
