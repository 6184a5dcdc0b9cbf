"""Run folders on disk, by the same calls that a run makes: begun, with trials, killed, finished."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import RequesterRecord, TrialRecord
from services.python.contract.requester_lines import Done
from tests.support.hosts import FakeTime, rows
from tests.support.plans import plan

PLAN = plan("tcp", repeats=2)
CELL = PLAN.cells[0].id


DONE = Done(rows=10, warmup_requests=0, requests=10, errors={})


def begun(root: Path, *, at_s: float = 1_795_229_802.0) -> RunFolder:
    return RunFolder.create(PLAN, command=["orch", "run"], root=root, now=FakeTime(at_s).clock())


def samples(index: int, attempt: int = 0) -> str:
    return f"samples/cell={CELL}/t{index}-a{attempt}.parquet"


def add_trial(
    folder: RunFolder, index: int, *, block: int, attempt: int = 0, raw: bool = True, path: str | None = None
) -> None:
    """A finished trial whose record waits in staging."""
    path = samples(index, attempt) if path is None else path
    if raw:
        folder.raw_path(path).parent.mkdir(parents=True, exist_ok=True)
        folder.raw_path(path).write_bytes(rows(10))
    record = TrialRecord(
        index=index,
        block=block,
        cell=CELL,
        attempt=attempt,
        outcome="ok",
        started_wall_ns=0,
        ended_wall_ns=1,
        overhead_s=0.1,
        requesters=(RequesterRecord(host="local", done=DONE, samples=path),),
    )
    folder.append({"event": "trial", "trial": asdict(record)})


def killed(root: Path, *, at_s: float = 1_795_229_802.0) -> RunFolder:
    """A run that was killed when one trial had ended, its record still waiting."""
    folder = begun(root, at_s=at_s)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    folder.release()
    return folder


def finished(root: Path) -> RunFolder:
    """A complete run with one file that counts and one of a block that was repeated."""
    folder = begun(root)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    folder.append({"event": "block", "block": 0, "attempt": 1})
    add_trial(folder, 0, block=0, attempt=1)
    folder.finish("complete", at="2026-11-21T02:57:00+00:00")
    folder.release()
    return RunFolder.open(folder.path, root=root)
