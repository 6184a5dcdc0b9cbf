"""Real runs of streams that are read from a database: what they keep, and a database that is away or goes away amidst."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from orchestrator.errors import MissingError
from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.local import postgresql as server
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy, pytest.mark.slow]

EXPERIMENT = """\
name: followed
question: What does it cost a stream that its events are read from a database?
stacks: [websocket]
operations: [{activity: {per_second: 100/s}}]
store: [none, sqlite, postgresql]
compare_by: store
load: {concurrency: 2, duration: DURATION}
warmup: {at_least: 100ms}
timeout: 5s
repeats: 1
"""


def made(duration: str) -> RunFolder:
    """A run in this folder."""
    Path("followed.yaml").write_text(EXPERIMENT.replace("DURATION", duration))
    plan = make_plan(Path("followed.yaml"))
    result = measure.start(plan, Workspace(), command=["orch", "run"], listener=Told())
    return RunFolder(result.folder)


def failures(run: RunFolder) -> dict[str, tuple[str, str]]:
    """Of each cell whose trial failed, the kind and what was said."""
    return {t.cell: (t.failure.kind, t.failure.message) for t in run.journal_state().trials if t.failure is not None}


@contextmanager
def killing(dsn: str) -> Iterator[None]:
    """Have the server of this DSN die without a word while the second responder, after a smoke test's, sends rows."""
    folder = Path(dsn.split()[0].removeprefix("host="))
    pid = int((folder / "data/postmaster.pid").read_text().splitlines()[0])
    is_over = threading.Event()

    def kill() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:

            def is_read() -> bool:
                rows = connection.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%transactions WHERE number >%'"
                    " AND pid <> pg_backend_pid()"
                )
                return rows.fetchone() is not None

            for wanted in (True, False, True):
                while is_read() is not wanted and not is_over.wait(0.02):
                    pass
        is_over.wait(2.0)
        os.kill(pid, signal.SIGQUIT)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(10)


def test_a_database_that_is_away_fails_its_cells_and_others_keep_every_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(GIVEN, "postgresql://me:secret@127.0.0.1:9/x")
    run = made("500ms")
    [(cell, (_, said))] = failures(run).items()
    assert "postgresql" in cell
    assert "the database x at 127.0.0.1:9: OperationalError" in said
    assert "secret" not in said
    summary = summarise(run)
    streams = {
        str(cell.factors["store"]): cell.details.stream for cell in summary.cells if cell.details.stream is not None
    }
    assert streams.keys() == {"none", "sqlite"}
    for of in streams.values():
        assert (of.offered, of.sent, of.delivered, of.dropped, of.wrong) == (100, 100, 100, 0, 0)
    assert {one.cell for one in summary.checks if one.name == "completeness" and one.verdict == "fail"} == {cell}


def test_a_database_that_is_killed_amidst_ends_the_trial_with_its_cause_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        server.find()
    except MissingError as error:
        pytest.skip(error.message)
    monkeypatch.chdir(tmp_path)
    with server.running(40) as (dsn, _):
        monkeypatch.setenv(GIVEN, dsn)
        with killing(dsn):
            run = made("6s")
    [(cell, (kind, said))] = failures(run).items()
    assert "postgresql" in cell
    assert kind == "protocol", said
    assert "every stream ended before it was over" in said
    assert "the database: " in said
    kept = {
        str(one.factors["store"]): one.details.stream for one in summarise(run).cells if one.details.stream is not None
    }
    assert {store: of.delivered for store, of in kept.items()} == {"none": 1200, "sqlite": 1200}
