"""Parts of a run: its base, deadline, stages and records, and how it ends."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.hosts.lifecycle import Receipt
from orchestrator.hosts.provision import deployments
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.measure import teardown as ending
from orchestrator.measure.baselines import pings_for
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.stages import STAGES, Stage, walk
from orchestrator.measure.target import Deadline
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace
from services.python.contract.counters import Clocks
from services.python.contract.lines import Load, Warmup
from services.python.contract.ping_lines import PingDone
from services.python.contract.requester_lines import Progress, Start
from tests.orchestrator.measure.test_trial import ASK
from tests.support.hosts import FakeTime, rows
from tests.support.plans import plan

HERE = Workspace()
REGISTRY = Registry(HERE.deployments)
PLAN = plan("tcp")


@pytest.fixture
def down(tmp_path, monkeypatch) -> list[str]:
    """An empty working folder; what is taken down there, by run id, is noted and not done."""
    monkeypatch.chdir(tmp_path)
    taken: list[str] = []

    def take(_registry: Registry, intent):
        taken.append(intent.run_id)
        return Receipt(provider=intent.provider, created=("a",), destroyed=("a",), left=())

    class Local:
        def __init__(self, folder):
            self._folder = folder

        def teardown(self):
            taken.append(self._folder.id)
            return Receipt(provider="local", created=(), destroyed=(), left=())

    monkeypatch.setattr(ending, "take_down", take)
    monkeypatch.setattr(ending, "open_deployment", lambda _plan, folder, _workspace: Local(folder))
    return taken


def killed(at_s: float = 1_795_229_802.0) -> RunFolder:
    folder = RunFolder.create(PLAN, command=["orch", "run"], root=Path("results"), now=FakeTime(at_s).clock())
    folder.release()
    return folder


def deployed(folder: RunFolder) -> None:
    """Hosts of that run are written down as being up."""
    REGISTRY.write(
        deployments.Intent(
            id=deployments.deployment_id(folder.id),
            run_id=folder.id,
            provider="lab",
            hosts=("a",),
            created_at=time.time(),
            expires_at=time.time() + 3600,
            cost_usd_per_h=0.0,
            state="up",
        )
    )


def test_a_deployment_is_taken_down_whatever_became_of_the_run_folder(down):
    mine = killed()
    deployed(mine)
    shutil.rmtree(mine.path)
    assert ending.end(HERE, mine.id).receipt is not None
    assert down == [mine.id]


START = Start(anchor=Clocks(wall_ns=0, monotonic_ns=0))
MEASURED = Progress(phase="measured", requests=1, elapsed_s=1.0)


def deadline(*, calls: int = 1, **load) -> Deadline:
    ask = replace(ASK, load=Load(**load), warmup=Warmup(at_most_s=10.0), calls=calls)
    return Deadline(ask=ask, ready_s=90.0)


def test_a_task_may_take_the_time_out_of_each_of_its_calls():
    task = deadline(calls=3, duration_s=10.0)
    task.heard(START, 0.0)
    assert task.next_line_s == 3 * 5.0 + 30.0
    assert task.at_most_s == 10.0 + 10.0 + 2 * 3 * 5.0 + 30.0


def test_the_first_line_may_take_as_long_as_the_slowest_start_and_a_request_together():
    assert deadline(requests=10).next_line_s == 95.0


def test_every_further_line_may_take_as_long_as_a_request_that_hangs():
    waiting = deadline(requests=10)
    waiting.heard(START, 0.0)
    assert 5.0 < waiting.next_line_s < 95.0


@pytest.mark.parametrize(
    ("load", "rest_s"),
    [
        ({"requests": 10, "think_s": 60.0}, 60),
        ({"requests": 10, "think_s": 60.0, "thinking": "exponential"}, 32 * 60),
        ({"duration_s": 100.0, "think_s": 60.0, "thinking": "exponential"}, 100),
    ],
)
def test_a_line_may_take_as_long_as_its_workers_rest(load: dict[str, Any], rest_s: float):
    waiting = deadline(**load)
    waiting.heard(START, 0.0)
    assert waiting.next_line_s == 5.0 + rest_s + 30.0


def test_the_stage_follows_the_lines():
    waiting = deadline(requests=10)
    stages = [waiting.stage]
    for line in (START, MEASURED):
        waiting.heard(line, 0.0)
        stages.append(waiting.stage)
    assert stages == ["check", "warm-up", "measure"]


def test_a_load_bounded_in_time_has_an_end_and_one_bounded_in_requests_has_none():
    bounded, unbounded = deadline(duration_s=60.0), deadline(requests=10)
    assert bounded.at_most_s is not None
    for waiting, goes_on in ((bounded, False), (unbounded, True)):
        assert waiting.heard(START, 100.0)
        assert waiting.heard(MEASURED, 100.0 + 60.0)
        assert waiting.heard(MEASURED, 100.0 + bounded.at_most_s + 1.0) is goes_on


@pytest.mark.parametrize(
    ("method", "min_ms", "pings"),
    [("icmp-datagram", 0.02, 500), ("icmp-raw", 10.0, 100), ("icmp-raw", 70.0, 20)],
)
def test_a_look_pings_for_about_a_second_and_often_enough_for_a_minimum(method, min_ms, pings):
    assert pings_for(PingDone(method=method, sent=3, received=3, min_ms=min_ms, avg_ms=min_ms)) == pings


NAMES = [stage.name for stage in STAGES]


def fail(name: str) -> None:
    raise ProvisionError(name)


def test_a_later_failure_is_a_note_on_the_first():
    steps = {name: (lambda name=name: fail(name)) for name in ("provision", "collect")}
    with pytest.raises(ProvisionError, match="provision") as caught:
        walk(steps, lambda stage: None)
    assert caught.value.__notes__ == ["then, while collecting the samples: collect"]


def test_a_failed_teardown_comes_before_what_failed_earlier():
    steps = {name: (lambda name=name: fail(name)) for name in ("provision", "teardown")}
    with pytest.raises(ProvisionError, match="teardown") as caught:
        walk(steps, lambda stage: None)
    assert caught.value.__notes__ == ["before that: provision"]


def test_a_stage_that_may_not_begin_counts_as_failed():
    made: list[str] = []

    def begin(stage: Stage) -> None:
        if stage.name == "measure":
            raise ProvisionError("not now")

    with pytest.raises(ProvisionError, match="not now"):
        walk({name: (lambda name=name: made.append(name)) for name in NAMES}, begin)
    assert made == ["provision", "deploy", "smoke", "collect", "teardown"]


@dataclass
class Shelf:
    """A host of which only files are asked."""

    content: bytes
    name: str = "h1"

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        local.write_bytes(self.content)


def bring(folder: Path, content: bytes) -> Path:
    """Bring it as samples of a run folder; where it comes to lie."""
    run = RunFolder(folder)
    context = RunContext(plan=None, folder=run, clock=None, interrupts=Interrupts(), listener=None)
    context.bring(Shelf(content), PurePosixPath("/far/t.timings"), "samples/x.parquet")
    return run.raw_path("samples/x.parquet")


def test_a_record_is_brought_as_it_is(tmp_path):
    assert bring(tmp_path, rows(2, rtt_ns=500)).read_bytes() == rows(2, rtt_ns=500)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (rows(0), "nothing was recorded"),
        (rows(0) + bytes(112), "nothing was recorded"),
        (rows(1).replace(b"\2", b"\1", 1), "not a timing record of version 2 with its 14 columns"),
        (rows(1)[:-1], "its 111 bytes after the header are no whole number of rows of 112"),
        (b"", "not a timing record of version 2 with its 14 columns"),
        (rows(1, kind=2), "it holds rows of kind part, which no cell of kind call has"),
        (rows(1, kind=-7), "it holds rows of kind number -7, which no cell of kind call has"),
    ],
)
def test_what_cannot_be_read_is_not_kept_and_says_where_it_was(tmp_path, content, why):
    with pytest.raises(ValueError, match=f"^{re.escape(f't.timings on h1: {why}')}$"):
        bring(tmp_path, content)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
