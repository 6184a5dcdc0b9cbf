"""A run folder whose journal grows as a run would let it grow."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.processes import started_at
from orchestrator.measure.interrupts import SESSION
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import TrialRecord
from tests.support.plans import plan

PATIENCE_S = 60.0


class Growing:
    """A run of two stacks and two blocks in `results/`, begun by this very process."""

    def __init__(self, root: Path, planned: Plan | None = None) -> None:
        self.plan = planned or plan("tcp", "rest")
        self.folder = RunFolder.create(self.plan, command=["orch", "run"], root=root / "results")
        self.id = self.folder.id

    def session(self) -> None:
        self.folder.append({"event": SESSION, "pid": os.getpid(), "started": started_at(os.getpid())})

    def stage(self, name: str) -> None:
        self.folder.append({"event": "stage", "stage": name})

    def block(self, number: int, attempt: int = 0) -> None:
        self.folder.append({"event": "block", "block": number, "attempt": attempt})

    def block_end(self, number: int, attempt: int = 0) -> None:
        self.folder.append({"event": "block-end", "block": number, "attempt": attempt})

    def trial(self, index: int, median_ms: float | None = 1.0, *, attempt: int = 0, is_ok: bool = True) -> None:
        planned = self.plan.trials[index]
        now_ns = time.time_ns()
        record = TrialRecord(
            index=index,
            block=planned.block,
            cell=planned.cell,
            attempt=attempt,
            outcome="ok" if is_ok else "failed",
            started_wall_ns=now_ns - 10**9,
            ended_wall_ns=now_ns,
            overhead_s=0.1,
        )
        median_ns = None if median_ms is None else median_ms * 1e6
        self.folder.append({"event": "trial", "trial": asdict(record), "records": {}, "median_ns": median_ns})

    def measuring(self) -> Growing:
        """Up to the first block."""
        self.session()
        self.stage("measure")
        self.block(0)
        return self

    def end(self, state: str = "complete") -> None:
        """As a run ends: the last event, then nobody holds the folder."""
        self.folder.append({"event": "end", "state": state, "at": "2026-11-23T10:00:00+00:00"})

    def let_go(self) -> None:
        self.folder.release()


def until(condition: Any, what: str) -> Any:
    """What the condition gives as soon as it is true."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(AssertionError):
            if found := condition():
                return found
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)
