"""A run as it would be if what a rule says were what its requesters had recorded: for the checks, which know no better."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.errors import InvalidMeasurement
from orchestrator.evidence.run_evidence import Run
from orchestrator.record_layout import KINDS
from orchestrator.results.columns import require_possible
from orchestrator.results.manifest import Manifest, RequesterRecord, TrialRecord
from services.python.contract.timing_rules import RULES, TimingRule

REQUEST, MISLEADING = map(KINDS.index, ("request", "misleading"))
_OF_RULES = ("sequence", "kind", "parent", "intended_ns", "sent_ns", "received_ns")

_GROWING = ("measured_s", "paused_s", "entering_s", "cpu_s")
"""What a requester says of its measured phase that grows with it."""

Columns = Mapping[str, npt.NDArray[Any]]


class Refused(InvalidMeasurement):
    """A rule's record of a trial of `cell` is one that orch does not read; the message says why."""

    def __init__(self, cell: str, why: InvalidMeasurement) -> None:
        super().__init__(why.message)
        self.cell = cell


class AsRequester:
    """A `Run` in which requests have the stamps of one rule. Cells in `without` have no trials.

    The requester's own words (`done`) are those of the trial: how long it paused, what it verified, what it used. Only its
    counts are those that belong to such a record: it holds its requests alone; and code without a warm-up says that it made
    none, that its times were longer in proportion, and nothing of the bytes on the wire, counted from the warm-up on.
    """

    def __init__(self, run: Run, rule: TimingRule, without: Collection[str] = ()) -> None:
        self._run = run
        self.path: Path = run.path
        self._rule = rule
        self._number = RULES.index(rule) + 1
        stored = run.manifest()
        self._cells = {
            part.samples: trial.cell for trial in stored.trials for part in trial.requesters if part.samples is not None
        }
        self._manifest = replace(
            stored,
            plan=stored.plan if rule.has_warm_up else _without_warm_up(stored.plan),
            trials=tuple(self._as_recorded(trial) for trial in stored.trials if trial.cell not in without),
        )

    def manifest(self) -> Manifest:
        """The run's, with what such requesters would have said."""
        return self._manifest

    def manifest_bytes(self) -> bytes:
        """InvalidMeasurement: no such manifest is stored."""
        raise InvalidMeasurement(f"{self.path}: what a misleading rule recorded is no run")

    def remarks(self) -> tuple[str, ...]:
        """None."""
        return ()

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of a file, its requests with the stamps of the rule; Refused where orch would not read such a file."""
        cell = self._cells.get(relative_path)
        if cell is None:
            return self._run.samples(relative_path, columns)
        found = self._run.samples(relative_path, tuple(dict.fromkeys((*columns, *_OF_RULES, "phase"))))
        stamped = with_stamps_of(found, self._number, has_warm_up=self._rule.has_warm_up)
        try:
            require_possible(Path(relative_path), stamped)
        except InvalidMeasurement as error:
            raise Refused(cell, error) from error
        return {name: stamped[name] for name in columns}

    def _as_recorded(self, trial: TrialRecord) -> TrialRecord:
        requesters = tuple(self._as_recorded_by(part) for part in trial.requesters)
        if self._rule.has_warm_up:
            return replace(trial, requesters=requesters)
        return replace(trial, requesters=requesters, stats_warm=None)

    def _as_recorded_by(self, part: RequesterRecord) -> RequesterRecord:
        done = part.done
        done = replace(done, rows=done.warmup_requests + done.requests + done.not_sent)
        if not self._rule.has_warm_up:
            verified = None if done.verified is None else done.verified + done.warmup_requests
            requests = done.requests + done.warmup_requests
            grown = requests / done.requests if done.requests else 1.0
            times: dict[str, Any] = {
                name: None if (value := getattr(done, name)) is None else value * grown for name in _GROWING
            }
            done = replace(
                done, requests=requests, warmup_requests=0, verified=verified, begin_ns=None, wire=None, **times
            )
        return replace(part, done=done)


def with_stamps_of(columns: Columns, number: int, *, has_warm_up: bool) -> dict[str, npt.NDArray[Any]]:
    """The requests of a record alone, with the stamps of that rule; those that failed keep theirs."""
    is_request = columns["kind"] == REQUEST
    made = {name: values[is_request].copy() for name, values in columns.items()}
    is_of_rule = (columns["kind"] == MISLEADING) & (columns["sequence"] == number)
    order = np.argsort(made["sequence"], kind="stable")
    rows = order[np.searchsorted(made["sequence"][order], columns["parent"][is_of_rule])]
    for name, of in (("intended_ns", "sent_ns"), ("sent_ns", "sent_ns"), ("received_ns", "received_ns")):
        made[name][rows] = columns[of][is_of_rule]
    if not has_warm_up:
        made["phase"][:] = 1
    return made


def _without_warm_up(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan of code that measures what orch warms up with: as many requests in all."""
    changed = copy.deepcopy(plan)
    for cell in changed["cells"]:
        load, warmup = cell["load"], cell["warmup"]
        if load.get("requests") is not None:
            load["requests"] += warmup["requests"]
        warmup["requests"] = 0
    return changed
