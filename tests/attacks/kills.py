"""Kills of a local run, at any moment, and what is left of it after `--resume`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from orchestrator.hosts.local.machine_lock import VARIABLE
from orchestrator.results.convert import read_record
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from tests.attacks.base import Attack, Tally, side_by_side

ROOT = Path(__file__).parents[2]
_AT_MOST_S = 600.0  # several runs go on at once, perhaps on a busy machine
_STAMPS = ("sequence", "sent_ns", "received_ns", "status")
_STAMP_PLACES = (0, 4, 5, 9)
_EXPERIMENT = """\
name: killed
question: What survives a kill?
stacks: [tcp, cbor]
operations: [add]
load: {requests: 400}
warmup: {requests: 10, at_least: 0s}
repeats: 3
"""


def kills(count: int, seed: int, folder: Path) -> Tally:
    """SIGKILL at a random moment after the first trial has ended; then `--resume`."""

    def attempt(number: int) -> str:
        place = folder / f"kill-{number}"
        place.mkdir()
        (place / "killed.yaml").write_text(_EXPERIMENT)
        _one(random.Random(f"{seed} {number}"), place)
        return f"kill {number}"

    return side_by_side(count, attempt)


def _one(source: random.Random, place: Path) -> None:
    orch = _orch(place, "run", "killed.yaml")
    journal = _journal(place)
    _wait(lambda: b'"event":"trial"' in journal().read_bytes(), orch)
    time.sleep(source.uniform(0, 4))
    orch.send_signal(signal.SIGKILL)
    orch.wait()
    if b'"event":"end"' in journal().read_bytes():
        return  # it was quicker
    before = finished(journal().parent)
    assert before, "no trial had ended"
    resumed = _orch(place, "run", "--resume")
    code = resumed.wait(_AT_MOST_S)
    assert code in (0, 5), f"--resume ended with {code}"
    compare(journal().parent, before)


def finished(run: Path) -> dict[str, tuple[tuple[int, ...], ...]]:
    """The stamps of every trial whose end is in the journal, by the path of its samples."""
    folder = RunFolder(run)
    paths = [part.samples for trial in folder.journal_state().every_trial for part in trial.requesters if part.samples]
    return {path: _rows(run, path, folder.raw_path(path)) for path in paths}


def compare(run: Path, before: dict[str, tuple[tuple[int, ...], ...]]) -> None:
    """Every trial is still there, row by row, counted or superseded."""
    verify(RunFolder(run))
    for path, rows in before.items():
        places = [run / path, run / "superseded" / path]
        found = [place for place in places if place.is_file()]
        assert found, f"{path} is gone"
        assert _parquet(found[0]) == rows, f"{path} is not what it was"


def _rows(run: Path, path: str, raw: Path) -> tuple[tuple[int, ...], ...]:
    if raw.is_file():
        record = read_record(raw)
        return tuple(map(tuple, record[:, list(_STAMP_PLACES)].tolist()))
    return _parquet(run / path if (run / path).is_file() else run / "superseded" / path)


def _parquet(path: Path) -> tuple[tuple[int, ...], ...]:
    table = pq.ParquetFile(path).read(columns=list(_STAMPS))
    columns = np.stack([table[name].to_numpy() for name in _STAMPS], axis=1)
    return tuple(map(tuple, columns.tolist()))


def _orch(place: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", "from orchestrator.cli.main import main; main()", *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: str(place / "machine.lock")},
        stdout=subprocess.DEVNULL,
        stderr=(place / "stderr.txt").open("ab"),
    )


def _journal(place: Path):
    def path() -> Path:
        found = list((place / "results").glob("*/journal.jsonl"))
        return found[0] if found else place / "killed.yaml"

    return path


def _wait(condition, process: subprocess.Popen[bytes], at_most_s: float = _AT_MOST_S) -> None:
    until = time.monotonic() + at_most_s
    while not condition():
        assert process.poll() is None, f"orch ended with {process.returncode}"
        assert time.monotonic() < until, f"no trial within {at_most_s:.0f} s"
        time.sleep(0.05)


ATTACKS = (Attack(name="SIGKILL in a local run, then --resume", many=200, few=2, run=kills),)
