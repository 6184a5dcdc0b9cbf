"""From plan and journal to the manifest: pure, so that it can be done again after a kill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.experiment.plan.plan import Plan
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
from orchestrator.results.turn_times import TrialMedian
from orchestrator.shapes import decode
from services.python.contract.description import Description

State = Literal["running", "interrupted", "complete"]


@dataclass(kw_only=True)
class JournalState:
    """The journal, read once: what counts, and what is still to be done."""

    begin: dict[str, Any] = field(default_factory=dict)
    ended_at: str | None = None
    state: State = "running"
    since: str = ""  # when it began, or was resumed
    stage: str = ""  # of the run since then
    fleet: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, Description] = field(default_factory=dict)
    programs: dict[str, ProgramsRecord] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)  # the last attempt of each block that was begun
    finished_blocks: set[int] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)
    medians: dict[tuple[int, int], TrialMedian] = field(default_factory=dict)  # ns, by a trial's index and attempt
    warnings: list[str] = field(default_factory=list)
    shares_machine: bool = False
    differences: tuple[ReplyDifference, ...] = ()
    decisions: dict[int, DecisionRecord] = field(default_factory=dict)  # by how many blocks there were
    referee: RefereeRecord | None = None
    trials: list[TrialRecord] = field(default_factory=list)  # of each block's last attempt, as they ended
    baselines: list[BaselineRecord] = field(default_factory=list)
    turns: list[TurnRecord] = field(default_factory=list)  # of load generators beside trials

    def medians_by_block(self) -> dict[int, dict[str, TrialMedian]]:
        """The medians of the trials that count and ended well, ns, by block and cell."""
        by_block: dict[int, dict[str, TrialMedian]] = {}
        for trial in self.trials:
            median = self.medians.get((trial.index, trial.attempt))
            if trial.outcome == "ok" and median is not None and median.median > 0:
                by_block.setdefault(trial.block, {})[trial.cell] = median
        return by_block

    def is_measured(self, blocks: int) -> bool:
        """Whether every block of a schedule of so many is finished, or a decision ended the measuring before."""
        return len(self.finished_blocks) >= blocks or any(decision.reached for decision in self.decisions.values())

    @property
    def samples(self) -> frozenset[str]:
        """The paths of all files of samples that count, whether they are there already or not."""
        of_trials = {r.samples for t in self.trials for r in t.requesters if r.samples}
        return frozenset(of_trials | {b.samples for b in self.baselines})

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event in; ValueError or KeyError for one of another shape. Other kinds (a process) are passed over.

        The journal's chain shows that orch wrote a line: only what is more than plain data is decoded.
        """
        match event["event"]:
            case "begin":
                self.begin = dict(event)
                self.since = str(event.get("at", ""))
            case "resume":
                self.state, self.ended_at = "running", None
                self.since, self.stage = str(event.get("at", self.since)), ""
            case "stage":
                self.stage = str(event.get("stage", ""))
            case "fleet":
                self.fleet = event["fleet"]
                self.hosts |= decode(dict[str, Description], event["hosts"])
                self.programs |= decode(dict[str, ProgramsRecord], event.get("programs", {}))
            case "block":
                self.attempts[event["block"]] = event["attempt"]
                self._forget(event["block"])
            case "block-end":
                self.finished_blocks.add(event["block"])
            case "trial":
                trial = decode(TrialRecord, event["trial"])
                self.trials.append(trial)
                if event.get("median_ns") is not None:
                    turns = tuple((begin_ns, median_ms) for begin_ns, median_ms in event.get("turn_medians_ms", ()))
                    self.medians[trial.index, trial.attempt] = TrialMedian(median=event["median_ns"], turns=turns)
            case "baseline":
                self.baselines.append(decode(BaselineRecord, event["baseline"]))
            case "differences":
                self.differences = decode(tuple[ReplyDifference, ...], event["differences"])
            case "decision":
                decision = decode(DecisionRecord, event["decision"])
                self.decisions[decision.blocks] = decision
            case "referee":
                self.referee = decode(RefereeRecord, event["referee"])
            case "turn":
                self.turns.append(decode(TurnRecord, event["turn"]))
            case "file":
                self.files[event["path"]] = event["sha256"]
            case "warning":
                if event["text"] not in self.warnings:
                    self.warnings.append(event["text"])
            case "shares-machine":
                self.shares_machine = True
            case "end":
                self.state, self.ended_at = event["state"], event["at"]

    def _forget(self, block: int) -> None:
        """What an earlier attempt of the block gave does not count any more."""
        self.finished_blocks.discard(block)
        self.trials = [trial for trial in self.trials if trial.block != block]
        self.baselines = [baseline for baseline in self.baselines if baseline.block != block]
        self.turns = [turn for turn in self.turns if turn.block != block]


def read(events: Iterable[Mapping[str, Any]]) -> JournalState:
    """What a journal says; ValueError names the first event that is not of its shape."""
    journal_state = JournalState()
    for number, event in enumerate(events, start=1):
        try:
            journal_state.take(event)
        except (KeyError, ValueError) as error:
            raise ValueError(f"event {number} ({event['event']!r:.40}): {error}") from error
    return journal_state


def manifest(journal_state: JournalState, plan: Plan, *, state: State | None = None, journal: str = "") -> Manifest:
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
        shares_machine=journal_state.shares_machine,
        programs=journal_state.programs,
        referee=journal_state.referee,
        turns=tuple(map(shareable.turn, journal_state.turns)) if journal_state.referee else (),
        differences=journal_state.differences,
        decisions=tuple(journal_state.decisions[blocks] for blocks in sorted(journal_state.decisions)),
    )
