"""From plan and journal to the manifest: pure, so that it can be done again after a kill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.results import shareable
from orchestrator.results.manifest import (
    BaselineRecord,
    DecisionRecord,
    Manifest,
    ProgramsRecord,
    RefereeRecord,
    ReplyDifference,
    TrialRecord,
    TurnRecord,
)
from orchestrator.shapes import decode
from services.python.contract.description import Description

State = Literal["running", "interrupted", "complete"]


@dataclass(kw_only=True)
class JournalState:
    """The journal, read once: what counts, and what is still to be done."""

    begin: dict[str, Any] = field(default_factory=dict)
    ended_at: str | None = None
    state: State = "running"
    fleet: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, Description] = field(default_factory=dict)
    programs: dict[str, ProgramsRecord] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)  # the last attempt of each block that was begun
    finished_blocks: set[int] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)  # SHA-256 of raw records' rows, by the samples they become
    medians: dict[tuple[int, int], float] = field(default_factory=dict)  # ns, by a trial's index and attempt
    warnings: list[str] = field(default_factory=list)
    differences: tuple[ReplyDifference, ...] = ()
    decisions: dict[int, DecisionRecord] = field(default_factory=dict)  # by how many blocks there were
    referee: RefereeRecord | None = None
    every_turn: list[TurnRecord] = field(default_factory=list)
    _trials: list[TrialRecord] = field(default_factory=list)
    _baselines: list[tuple[int, BaselineRecord]] = field(default_factory=list)

    @property
    def every_trial(self) -> tuple[TrialRecord, ...]:
        """All trials that were made, those of repeated blocks too, in the order in which they ended."""
        return tuple(self._trials)

    @property
    def every_baseline(self) -> tuple[BaselineRecord, ...]:
        """All baselines that were taken."""
        return tuple(baseline for _, baseline in self._baselines)

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """The trials that count: those of each block's last attempt, in the order in which they ended."""
        return tuple(t for t in self._trials if t.attempt == self.attempts.get(t.block, 0))

    @property
    def baselines(self) -> tuple[BaselineRecord, ...]:
        """The baselines of each block's last attempt, in the order in which they were taken."""
        return tuple(b for attempt, b in self._baselines if attempt == self.attempts.get(b.block, 0))

    def medians_by_block(self) -> dict[int, dict[str, float]]:
        """The medians of the trials that count and ended well, ns, by block and cell."""
        by_block: dict[int, dict[str, float]] = {}
        for trial in self.trials:
            median_ns = self.medians.get((trial.index, trial.attempt))
            if trial.outcome == "ok" and median_ns is not None and median_ns > 0:
                by_block.setdefault(trial.block, {})[trial.cell] = median_ns
        return by_block

    def is_measured(self, blocks: int) -> bool:
        """Whether every block of a schedule of so many is finished, or a decision ended the measuring before."""
        return len(self.finished_blocks) >= blocks or any(decision.reached for decision in self.decisions.values())

    @property
    def turns(self) -> tuple[TurnRecord, ...]:
        """The turns of load generators beside trials that count."""
        return tuple(t for t in self.every_turn if t.attempt == self.attempts.get(t.block, 0))

    @property
    def samples(self) -> frozenset[str]:
        """The paths of all files of samples that count, whether they are there already or not."""
        of_trials = {r.samples for t in self.trials for r in t.requesters if r.samples}
        return frozenset(of_trials | {b.samples for b in self.baselines})

    def take(self, content: Mapping[str, Any]) -> None:
        """Take one event in; ValueError for one that is not of its shape. Other kinds (a process) are passed over."""
        kind = _EVENTS.get(content["event"])
        if kind is None:
            return
        match decode(kind, content):
            case Begin():
                self.begin = dict(content)
            case Resume():
                self.state, self.ended_at = "running", None
            case Fleet(fleet=fleet, hosts=hosts, programs=programs):
                self.fleet, self.hosts = fleet, {**self.hosts, **hosts}
                self.programs = {**self.programs, **programs}
            case Block(event="block", block=block, attempt=attempt):
                self.attempts[block] = attempt
                self.finished_blocks.discard(block)
            case Block(block=block):
                self.finished_blocks.add(block)
            case Trial(trial=trial, records=records, median_ns=median_ns):
                self._trials.append(trial)
                self.records |= records
                if median_ns is not None:
                    self.medians[trial.index, trial.attempt] = median_ns
            case Baseline(attempt=attempt, baseline=baseline, records=records):
                self._baselines.append((attempt, baseline))
                self.records |= records
            case Differences(differences=differences):
                self.differences = differences
            case Decision(decision=decision):
                self.decisions[decision.blocks] = decision
            case Referee(referee=referee):
                self.referee = referee
            case Turn(turn=turn):
                self.every_turn.append(turn)
            case File(path=path, sha256=digest):
                self.files[path] = digest
            case Warning(text=text):
                if text not in self.warnings:
                    self.warnings.append(text)
            case End(state=state, at=at):
                self.state, self.ended_at = state, at


@dataclass(frozen=True, kw_only=True)
class _Event:
    event: str


@dataclass(frozen=True, kw_only=True)
class Begin(_Event):
    """The first event: the plan, and the SHA-256 of each file that the run began with."""

    run_id: str
    plan_id: str
    orch_version: str
    command: tuple[str, ...]
    at: str
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Resume(_Event):
    """The run is still in progress in another process."""

    command: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, kw_only=True)
class Fleet(_Event):
    """The hosts, as they describe themselves, and the programs that were built for them."""

    fleet: dict[str, Any]
    hosts: dict[str, Description]
    programs: dict[str, ProgramsRecord] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Block(_Event):
    """`block`: an attempt at a block begins; `block-end`: it is finished."""

    block: int
    attempt: int = 0


@dataclass(frozen=True, kw_only=True)
class Trial(_Event):
    """A trial has ended."""

    trial: TrialRecord
    records: dict[str, str] = field(default_factory=dict)  # SHA-256 of raw records' rows, by the samples they become
    median_ns: float | None = None  # of its requests, for who watches the run


@dataclass(frozen=True, kw_only=True)
class Baseline(_Event):
    """A baseline was taken, in an attempt at its block."""

    attempt: int
    baseline: BaselineRecord
    records: dict[str, str] = field(default_factory=dict)  # as of a trial


@dataclass(frozen=True, kw_only=True)
class Differences(_Event):
    """What stacks answered differently before anything was measured."""

    differences: tuple[ReplyDifference, ...]


@dataclass(frozen=True, kw_only=True)
class Decision(_Event):
    """Whether the run ends after a block, by how narrow its intervals are."""

    decision: DecisionRecord


@dataclass(frozen=True, kw_only=True)
class Referee(_Event):
    """Load generators measure beside the trials of this run."""

    referee: RefereeRecord


@dataclass(frozen=True, kw_only=True)
class Turn(_Event):
    """A load generator's turn has ended."""

    turn: TurnRecord


@dataclass(frozen=True, kw_only=True)
class File(_Event):
    """A samples file is written whole."""

    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Warning(_Event):  # noqa: A001 - the event's own name
    """A condition that a reader must know."""

    text: str


@dataclass(frozen=True, kw_only=True)
class End(_Event):
    """The process ends its work at the run."""

    state: State
    at: str


_EVENTS: Mapping[str, type] = {
    "begin": Begin,
    "resume": Resume,
    "fleet": Fleet,
    "block": Block,
    "block-end": Block,
    "trial": Trial,
    "baseline": Baseline,
    "decision": Decision,
    "differences": Differences,
    "referee": Referee,
    "turn": Turn,
    "file": File,
    "warning": Warning,
    "end": End,
}


BRIEF = frozenset({"begin", "resume", "fleet", "block", "block-end", "trial", "warning", "end"})
"""The events that say how a run went, and not what both ends said, nor how the floors were."""
_LONG = frozenset({"requesters", "ready", "stats", "stats_before", "stats_warm", "turns"})


def shortened(event: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's event without what both ends said, which is long; ValueError for one that holds no trial."""
    trial = event.get("trial")
    if not isinstance(trial, dict):
        raise ValueError("a trial's event holds no trial")
    kept = {name: value for name, value in trial.items() if name not in _LONG}
    return {"event": event["event"], "trial": kept, "median_ns": event.get("median_ns")}


def in_brief(events: Iterable[Mapping[str, Any]]) -> JournalState:
    """What events of the kinds `BRIEF` say, without floors and without what both ends said; errors as `read`."""
    return read(shortened(event) if event["event"] == "trial" else event for event in events)


def read(events: Iterable[Mapping[str, Any]]) -> JournalState:
    """What a journal says; ValueError names the first event that is not of its shape."""
    journal_state = JournalState()
    for number, event in enumerate(events, start=1):
        try:
            journal_state.take(event)
        except ValueError as error:
            raise ValueError(f"event {number} ({event['event']!r:.40}): {error}") from error
    return journal_state


def manifest(
    journal_state: JournalState, plan: dict[str, Any], *, state: State | None = None, journal: str = ""
) -> Manifest:
    """The manifest of a run, which names no host, person or folder (`shareable`).

    `state` overrides the journal's, for a run that was killed before it could say so.

    `journal` is the journal's chain value at that point.
    """
    counted = journal_state.samples
    return Manifest(
        run_id=journal_state.begin["run_id"],
        plan_id=journal_state.begin["plan_id"],
        plan=shareable.plan(plan),
        orch_version=journal_state.begin["orch_version"],
        state=state or journal_state.state,
        started_at=journal_state.begin["at"],
        ended_at=journal_state.ended_at,
        fleet=shareable.fleet(journal_state.fleet),
        hosts={name: shareable.host(facts) for name, facts in journal_state.hosts.items()},
        trials=tuple(map(shareable.trial, journal_state.trials)),
        baselines=tuple(map(shareable.baseline, journal_state.baselines)),
        files={path: digest for path, digest in sorted(journal_state.files.items()) if path in counted},
        journal=journal,
        warnings=tuple(journal_state.warnings),
        programs=journal_state.programs,
        referee=journal_state.referee,
        turns=tuple(map(shareable.turn, journal_state.turns)) if journal_state.referee else (),
        differences=journal_state.differences,
        decisions=tuple(journal_state.decisions[blocks] for blocks in sorted(journal_state.decisions)),
    )
