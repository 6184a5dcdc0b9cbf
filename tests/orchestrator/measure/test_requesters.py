"""Several requester hosts in one trial: one barrier, one word, and the death of one of them."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.hosts.base import Pair
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.run import Result
from orchestrator.measure.trial import Bench, TrialRun
from orchestrator.results.folder import RunFolder
from services.python.contract.lines import Load
from tests.orchestrator.measure.test_run import Lab
from tests.orchestrator.measure.test_trial import ASK
from tests.support.hosts import FakeDeployment, FakeFleet, FakeHost, FakeTime, checked_line, good_requester
from tests.support.plans import plan

START = {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
WARM = {"type": "warm", "requests": 0}
PROGRESS = {"type": "progress", "phase": "measured", "requests": 5, "elapsed_s": 1.0}
PATIENCE_S = 30.0


class Hosts:
    """A responder's host, and three that ask."""

    def __init__(self, folder: Path) -> None:
        self.time, self.diary = FakeTime(), []
        self.responder = self.host(folder, "responder-1")
        self.requesters = tuple(self.host(folder, f"requester-{n}") for n in (1, 2, 3))

    def host(self, folder: Path, name: str) -> FakeHost:
        return FakeHost(folder=folder / name, time=self.time, diary=self.diary, name=name)

    def make(self, *, processes: int = 1) -> TrialRun:
        bench = Bench(clock=self.time.clock(), interrupts=Interrupts(), on_progress=lambda line: None)
        ask = replace(ASK, requesters=3, processes=processes, load=Load(concurrency=6, requests=60))
        return bench.make(ask, Pair(self.requesters, self.responder), "t0")

    @property
    def left_behind(self) -> list[str]:
        return [role for host in (self.responder, *self.requesters) for role in host.left_behind]


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return Hosts(tmp_path)


def dies_warming_up(process):
    yield checked_line()
    yield START
    yield None


def dies_measuring(process):
    yield checked_line()
    yield START
    yield WARM
    yield PROGRESS
    yield None


def never_hears_again(ended: threading.Event):
    """A requester that has begun to measure and says nothing more until it is ended."""

    def talk(process):
        yield checked_line()
        yield START
        yield WARM
        ended.wait(PATIENCE_S)
        yield None

    return talk


@pytest.mark.parametrize(
    ("dies", "stage", "is_told"), [(dies_warming_up, "warm-up", False), (dies_measuring, "measure", True)]
)
def test_the_death_of_one_is_told_with_its_host_and_voids_the_trial(hosts, dies, stage, is_told) -> None:
    hosts.requesters[1].requester = lambda number: dies
    outcome = hosts.make()
    assert (outcome.failure.stage, outcome.failure.kind) == (stage, "requester-died")
    assert outcome.failure.message == "the requester on requester-2 died"
    assert outcome.parts == ()
    assert hosts.left_behind == []
    begun = [len(process.received) == 2 for process in hosts.requesters[0].processes]
    assert begun == [is_told]  # no other one begins before all are warm


def test_the_others_are_ended_at_once_where_one_dies_while_they_measure(hosts, monkeypatch) -> None:
    ended = threading.Event()
    hosts.requesters[0].requester = lambda number: never_hears_again(ended)
    hosts.requesters[1].requester = lambda number: dies_measuring
    started = hosts.requesters[0].start

    def start(argv, *, cpus=None):
        process = started(argv, cpus=cpus)
        monkeypatch.setattr(process, "end", lambda grace_s=5.0: (ended.set(), type(process).end(process))[1])
        return process

    monkeypatch.setattr(hosts.requesters[0], "start", start)
    outcome = hosts.make()
    assert outcome.failure.message == "the requester on requester-2 died"
    assert ended.is_set()
    assert hosts.left_behind == []


def run_of(hosts: Hosts, folder: Path, *, repeats: int, asking: int = 3) -> tuple[Result, RunFolder]:
    lab = Lab(folder)
    lab.time = hosts.time
    lab.deployment = FakeDeployment(fleet=FakeFleet(hosts.requesters, hosts.responder), diary=hosts.diary)
    return lab.run(plan("tcp", repeats=repeats, requesters=asking)), lab.runs


def test_a_run_goes_on_with_the_next_trial_and_never_counts_two_of_three(hosts, tmp_path, no_analysis) -> None:
    # On each host: the smoke test, then (on the first one) the floor before the first block, the trial, ...
    hosts.requesters[1].requester = lambda number: dies_measuring if number == 1 else good_requester
    result, folder = run_of(hosts, tmp_path, repeats=2)
    first, second = folder.journal_state().trials
    assert (first.outcome, second.outcome) == ("failed", "ok")
    assert first.failure.message == "the requester on requester-2 died"
    assert all(part.samples is None for part in first.requesters)
    assert [part.host for part in second.requesters] == ["requester-1", "requester-2", "requester-3"]
    assert all(part.heard is not None for part in second.requesters)
    assert isinstance(result.error(), errors.TrialsFailed)


def test_a_cell_of_fewer_hosts_is_asked_from_the_first_ones_alone(hosts, tmp_path, no_analysis) -> None:
    _, folder = run_of(hosts, tmp_path, repeats=1, asking=2)
    (trial,) = folder.manifest().trials
    assert [part.host for part in trial.requesters] == ["requester-1", "requester-2"]
    assert [len(host.processes) > 1 for host in hosts.requesters] == [
        True,
        True,
        False,
    ]  # the third one was smoke-tested
