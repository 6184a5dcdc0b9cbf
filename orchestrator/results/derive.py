"""From plan and journal to the manifest: pure, so that it can be done again after a kill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.results.documents import decode
from orchestrator.results.manifest import BaselineRecord, Manifest, TrialRecord

State = Literal["running", "interrupted", "complete"]


@dataclass(kw_only=True)
class Story:
    """The journal, read once: what counts, and what is still to be done."""

    begin: dict[str, Any] = field(default_factory=dict)
    ended_at: str | None = None
    state: State = "running"
    fleet: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)  # the last attempt of each block that was begun
    finished_blocks: set[int] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _trials: list[TrialRecord] = field(default_factory=list)
    _baselines: list[tuple[int, BaselineRecord]] = field(default_factory=list)

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """The trials that count: those of each block's last attempt, in the order of the schedule."""
        last = (t for t in self._trials if t.attempt == self.attempts.get(t.block, 0))
        return tuple(sorted(last, key=lambda t: t.index))

    @property
    def baselines(self) -> tuple[BaselineRecord, ...]:
        """The baselines of each block's last attempt, in the order in which they were taken."""
        return tuple(b for attempt, b in self._baselines if attempt == self.attempts.get(b.block, 0))

    @property
    def samples(self) -> frozenset[str]:
        """The paths of all files of samples that count, whether they are there already or not."""
        of_trials = {r.samples for t in self.trials for r in t.requesters if r.samples}
        return frozenset(of_trials | {b.samples for b in self.baselines})

    def tell(self, event: Mapping[str, Any]) -> None:
        """Take one event in; events of other kinds (a process, say) are passed over."""
        match event["event"]:
            case "begin":
                self.begin = dict(event)
            case "resume":
                self.state, self.ended_at = "running", None
            case "fleet":
                self.fleet, self.hosts = event["fleet"], {**self.hosts, **event["hosts"]}
            case "block":
                self.attempts[event["block"]] = event["attempt"]
                self.finished_blocks.discard(event["block"])
            case "block-end":
                self.finished_blocks.add(event["block"])
            case "trial":
                self._trials.append(decode(TrialRecord, event["trial"]))
            case "baseline":
                self._baselines.append((event["attempt"], decode(BaselineRecord, event["baseline"])))
            case "file":
                self.files[event["path"]] = event["sha256"]
            case "warning":
                if event["text"] not in self.warnings:
                    self.warnings.append(event["text"])
            case "end":
                self.state, self.ended_at = event["state"], event["at"]


def read(events: Iterable[Mapping[str, Any]]) -> Story:
    """The story that a journal tells."""
    story = Story()
    for event in events:
        story.tell(event)
    return story


def manifest(story: Story, plan: dict[str, Any], *, state: State | None = None) -> Manifest:
    """The manifest of a run; `state` overrides the journal's, for a run that was killed before it could say so."""
    counted = story.samples
    return Manifest(
        run_id=story.begin["run_id"],
        plan_id=story.begin["plan_id"],
        plan=plan,
        orch_version=story.begin["orch_version"],
        state=state or story.state,
        started_at=story.begin["at"],
        ended_at=story.ended_at,
        command=tuple(story.begin["command"]),
        fleet=story.fleet,
        hosts=story.hosts,
        trials=story.trials,
        baselines=story.baselines,
        files={path: digest for path, digest in sorted(story.files.items()) if path in counted},
        warnings=tuple(story.warnings),
    )
