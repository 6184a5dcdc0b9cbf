"""How far a run has come: lines for who started it, and what its journal shows to everybody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path

from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import OrchError
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.read.units import format_duration
from orchestrator.measure.remaining import status
from orchestrator.measure.run_context import Listener, label
from orchestrator.measure.stages import STAGES
from orchestrator.results.derive import JournalState
from orchestrator.results.folder import RunFolder, runs
from orchestrator.results.manifest import TrialRecord
from services.python.contract.limits import Kind
from services.python.contract.requester_lines import Progress as ProgressLine


def duration(seconds: float) -> str:
    """An estimate of seconds for people: no fractions.

    >>> duration(0.4), duration(75.2), duration(4000)
    ('0 s', '1 min 15 s', '1 h 7 min')
    """
    return format_duration(round(seconds))


_SAMPLES: Mapping[Kind, str] = {"task": "tasks", "codec": "messages", "stream": "events"}


@dataclass(kw_only=True)
class Progress:
    """Counts trials, and estimates the time left by what the trials so far took, baselines included."""

    listener: Listener
    clock: Clock
    total: int
    deadline_s: float = inf  # by the clock
    trial_s: float = 0.0  # what a trial is expected to take
    at_most: bool = False  # the run may end before
    done: int = 0
    _made: int = 0
    _under_way: int = 0
    _started_s: float | None = None
    _label: str = ""
    _samples: str = "requests"

    def skip(self, trials: int) -> None:
        self.done += trials

    def begin(self, label: str, kind: Kind = "call", *, trials: int = 1) -> None:
        """A trial of this kind of work begins, or several that take turns."""
        if self._started_s is None:
            self._started_s = self.clock.monotonic_s()
        self._under_way = self._under_way or trials
        self._label, self._samples = label, _SAMPLES.get(kind, "requests")
        self.listener.live(f"{self._place(self.done + 1)} {label}{self._left()}")

    def heard(self, line: ProgressLine) -> None:
        """A requester's progress line: at most one a second."""
        doing = f"{line.phase} {line.requests:,} {self._samples}"
        self.listener.live(f"{self._place(self.done + 1)} {self._label}: {doing}{self._left()}")

    def in_round(self, number: int, rounds: int) -> None:
        """The cells of a group take turns; `number` is that of the round, from 0."""
        doing = f"round {number + 1} of {rounds}" if number < rounds else "turns again that others disturbed"
        self.listener.live(f"{self._place(self.done + 1)} {self._label}: {doing}{self._left()}")

    def end(self, record: TrialRecord) -> None:
        self.done += 1
        self._made += 1
        self._under_way -= 1
        self.trial_s = self._elapsed_s / (self._made + self._under_way)
        self.listener.progress(
            f"{self._place(self.done)} {self._label}: {_result(record, self._samples)}{self._left()}"
        )

    def _place(self, number: int) -> str:
        between = " of at most " if self.at_most else "/"
        return f"[{number:{len(str(self.total))}}{between}{self.total}]"

    def _left(self) -> str:
        if not self.trial_s or self.done >= self.total:
            return ""
        trials = max(1, self._under_way, self.total - self.done)
        left_s = time_left_s(
            self._elapsed_s, ended=self._made, under_way=self._under_way, left=trials, trial_s=self.trial_s
        )
        left = duration(max(0.0, min(left_s, self.deadline_s - self.clock.monotonic_s())))
        return f"  ({'at most ' if self.at_most else ''}{left} left)"

    @property
    def _elapsed_s(self) -> float:
        return 0.0 if self._started_s is None else self.clock.monotonic_s() - self._started_s


def time_left_s(elapsed_s: float, *, ended: int, under_way: int, left: int, trial_s: float) -> float:
    """Seconds until `left` more trials have ended, those under way included, after `ended` in `elapsed_s`.

    A trial takes `trial_s`, or longer where those under way take longer already.

    >>> time_left_s(20.0, ended=0, under_way=1, left=6, trial_s=6.0)
    100.0
    """
    pace_s = max(trial_s, elapsed_s / max(1, ended + under_way))
    return pace_s * (ended + left) - elapsed_s


def _result(record: TrialRecord, samples: str) -> str:
    if record.failure is not None:
        return f"FAILED at {record.failure.stage}: {record.failure.message}"
    requests = sum(r.done.events.delivered if r.done.events else r.done.requests for r in record.requesters)
    errors = sum(sum(r.done.errors.values()) for r in record.requesters)
    seconds = max((r.done.measured_s or 0.0 for r in record.requesters), default=0.0)
    not_sent = sum(r.done.not_sent for r in record.requesters)
    wrong = f", {errors:,} errors" if errors else ""
    unsent = f", {not_sent:,} not sent" if not_sent else ""
    verdict = "" if record.probe is None else f": {record.probe.verdict}"
    return f"{requests:,} {samples} in {format_duration(seconds)}{wrong}{unsent}{verdict}"


_DOING = {stage.name: stage.doing for stage in STAGES}


@dataclass(frozen=True, kw_only=True)
class InProgress:
    """How far a run has come. Durations are seconds; `trouble` says why its journal does not show it."""

    run: str
    experiment: str = ""  # its name
    provider: str = ""
    since: str = ""  # ISO 8601: when the run began, or was resumed
    stage: str = ""
    trials: int = 0  # of the schedule
    done: int = 0
    cell: str = ""  # of the trial that is being made, in words
    blocks: int = 0  # of the schedule
    blocks_done: int = 0
    left_s: float | None = None
    width: str = ""  # of a run that ends as soon as its intervals are narrow enough: how wide they are
    trouble: str = ""

    def sentence(self) -> str:
        """Its progress: `trial 3 of 24, about 1 min 5 s left; 0 of 3 blocks done`."""
        if self.trouble:
            return f"how far it has come is not known: {self.trouble}"
        if self.done >= self.trials:
            return f"all {self.trials} trials are done, checks and report are being made"
        left = "" if self.left_s is None else f", about {duration(self.left_s)} left"
        if self.stage == "measure":
            width = f"; {self.width}" if self.width else ""
            return (
                f"trial {self.done + 1} of {self.trials}{left}; {self.blocks_done} of {self.blocks} blocks done{width}"
            )
        return f"{_DOING.get(self.stage, 'beginning')}, {self.done} of {self.trials} trials done{left}"


def how_unfinished(folder: RunFolder) -> str:
    """What is stored of a run that was cut, `4 of 24 trials are stored`; "" of a complete one."""
    journal_state = folder.journal_state()
    if journal_state.state == "complete":
        return ""
    plan, done = folder.plan(), len(journal_state.trials)
    if journal_state.is_measured(plan.blocks):
        return "every trial is stored, and the report and the teardown are left"
    return f"{done or 'none'} of {len(plan.trials)} trials {'are' if done > 1 else 'is'} stored"


def trial_seconds(plan: Plan) -> float:
    """What a trial of a plan is expected to take, its share of the baselines included."""
    return estimate(plan).duration_s / len(plan.trials)


def _now(plan: Plan, state: JournalState) -> str:
    """The cell whose trial is next, or being made, in the block that was begun last; empty between blocks."""
    begun = max(state.attempts.keys() - state.finished_blocks, default=None)
    ended = {trial.index for trial in state.trials}
    planned = next((trial for trial in plan.trials if trial.block == begun and trial.index not in ended), None)
    cell = planned and next((cell for cell in plan.cells if cell.id == planned.cell), None)
    return label(plan, cell) if cell else ""


def in_progress(results: Path) -> list[InProgress]:
    """Every run under `results` that is being measured, oldest first."""
    return [_look(folder) for folder in runs(results) if folder.is_in_progress]


def _look(folder: RunFolder) -> InProgress:
    try:
        return shown(folder.id, folder.plan(), folder.journal_state(), SYSTEM)
    except (OrchError, ValueError) as error:
        return InProgress(run=folder.id, trouble=str(error))


def shown(run: str, plan: Plan, journal_state: JournalState, clock: Clock) -> InProgress:
    """How far a run has come, by what its plan and its journal say."""
    # Trials that a resumed run is to make again count as not done: the block that was cut begins anew.
    done = len(journal_state.trials)
    resumed_ns = datetime.fromisoformat(journal_state.since).timestamp() * 1e9 if journal_state.since else 0.0
    ended = [t for t in journal_state.trials if t.started_wall_ns >= resumed_ns]
    last = max(journal_state.decisions, default=None)
    decision = None if last is None else journal_state.decisions[last]
    left = len(plan.trials) - done
    if plan.until is not None and decision is not None and decision.reached:
        left = 0
    left_s = None
    if left:
        begun_ns = ended[0].started_wall_ns if ended else clock.wall_ns()
        trial_s = (ended[-1].ended_wall_ns - begun_ns) / 1e9 / len(ended) if ended else trial_seconds(plan)
        elapsed_s = max(0.0, (clock.wall_ns() - begun_ns) / 1e9)
        left_s = time_left_s(elapsed_s, ended=len(ended), under_way=1, left=left, trial_s=trial_s)
    return InProgress(
        run=run,
        experiment=plan.name,
        provider=plan.provider,
        since=journal_state.since,
        stage=journal_state.stage,
        trials=len(plan.trials),
        done=done,
        cell=_now(plan, journal_state) if journal_state.stage == "measure" else "",
        blocks=len({trial.block for trial in plan.trials}),
        blocks_done=len(journal_state.finished_blocks),
        left_s=left_s,
        width=status(plan, decision),
    )
