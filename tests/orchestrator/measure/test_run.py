"""A whole run on fake hosts: the order of things, and what is left when something fails."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from orchestrator import errors
from orchestrator.clock import Clock
from orchestrator.experiment.plan.plan import External, Plan
from orchestrator.hosts.base import HostLost
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.progress import how_unfinished
from orchestrator.measure.run import Result, Run
from orchestrator.measure.run_context import RunContext
from orchestrator.results.folder import RunFolder, verify
from orchestrator.results.manifest import Failure
from services.python.contract.description import Description
from tests.support.hosts import (
    FakeDeployment,
    FakeFleet,
    FakeHost,
    FakeTime,
    Told,
    checked_line,
    done_line,
    good_requester,
    good_responder,
    interrupted,
    rows,
    script,
    words,
)
from tests.support.plans import plan


class Lab:
    """A fake host, and everything that a run on it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = FakeTime()
        self.diary: list[str] = []
        self.host = FakeHost(folder=folder / "host", time=self.time, diary=self.diary)
        self.deployment = FakeDeployment(fleet=FakeFleet((self.host,), self.host), diary=self.diary)
        self.console = Told()
        self.runs: RunFolder | None = None

    def run(self, planned: Plan, *, keep: bool = False) -> Result:
        """A new run, or the same one again."""
        if self.runs is None:
            root = self.folder / "results"
            self.runs = RunFolder.create(planned, command=["orch", "run"], root=root, now=self.time.clock())
        context = RunContext(
            plan=planned, folder=self.runs, clock=self.time.clock(), interrupts=Interrupts(), listener=self.console
        )
        context.referee = self.runs.journal_state().referee
        return Run(context, self.deployment, self.folder / "reports", keep=keep).execute()


@pytest.fixture
def lab(no_analysis: None, tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_run_goes_from_provisioning_to_teardown_with_floors_around_each_block(lab):
    result = lab.run(plan("tcp", repeats=2))
    ping = ["start ping", "end ping"]
    floor = [*ping, "start responder tcp", "start requester", "end requester", "end responder tcp"]
    trial = floor[2:]
    assert lab.diary == ["provision", "deploy", *trial, *ping, *2 * [*floor, *trial, *floor], "teardown"]
    assert (result.is_complete, result.trials, result.failed_trials) == (True, 2, 0)
    assert result.error() is None
    assert lab.host.left_behind == []
    receipts = [line for line in lab.console.lines if line.startswith("receipt")]
    assert receipts == ["receipt (fake): 1 created, 1 destroyed, nothing left"]


CALL = {"kind": "http", "data": None, "expect": {}, "same": {}}
THERE = External(given="there", host="198.18.0.9", port=4712, call=CALL)


def given(*protocols: str, number: int = 1) -> Plan:
    """A plan whose first stacks are answered by what runs already: elsewhere, or here beside stacks of our own."""
    planned = plan(*protocols, repeats=2)
    is_away = number == len(protocols)
    external = THERE if is_away else replace(THERE, host="127.0.0.1")
    stacks = [replace(stack, external=external) for stack in planned.stacks[:number]]
    placements = tuple(replace(p, kind="external" if is_away else p.kind) for p in planned.placements)
    return replace(planned, stacks=(*stacks, *planned.stacks[number:]), placements=placements)


def test_of_a_run_against_what_runs_already_only_requesters_and_pings_are_started(lab):
    result = lab.run(given("tcp"))
    ping, trial = ["start ping", "end ping"], ["start requester", "end requester"]
    assert lab.diary == ["provision", "deploy", *trial, *ping, *2 * [*ping, *trial, *ping], "teardown"]
    assert result.error() is None
    pinged = [json.loads(p.received[0])["address"] for p in lab.host.processes if p.role == "ping"]
    targets = [p.trial["target"] for p in lab.host.processes if p.role == "requester"]
    assert set(pinged) == {"198.18.0.9"}
    assert {(target["host"], target["port"], target["identity"]) for target in targets} == {("there", 4712, None)}
    assert lab.console.lines[1].startswith("tcp: about ")
    assert "requests, warm-ups included, go to there:4712 (198.18.0.9), which runs already" in lab.console.lines[1]


def test_beside_what_runs_already_floors_stand_for_our_own_alone(lab):
    lab.run(given("rest", "grpc"))
    cells = {cell for baseline in lab.runs.manifest().baselines for cell in baseline.cells}
    assert cells == {"grpc__echo__local__reuse__c1"}


def test_where_nobody_answers_a_ping_to_what_runs_already_the_run_says_what_is_left_and_goes_on(lab):
    lab.host.ping = script({"type": "failed", "kind": "unavailable", "message": "no echo"})
    result = lab.run(given("tcp"))
    assert (result.is_complete, result.failed_trials) == (True, 0)
    (warning,) = lab.runs.manifest().warnings
    assert warning.endswith("to the service; the floor is what TCP itself says of its connections")
    assert f"{warning}: no echo" in lab.console.warnings


def test_samples_become_one_tidy_table_and_staging_goes(lab):
    lab.run(plan("tcp", "rest", repeats=2))
    table = pd.read_parquet(lab.runs.path / "samples")
    assert len(table) == 4 * 10
    assert set(table["stack"]) == {"tcp", "rest"}
    assert set(table["cell"]) == {"tcp__echo__local__reuse__c1", "rest__echo__local__reuse__c1"}
    assert set(table["block"]) == {0, 1}
    assert not (lab.runs.path / "staging").exists()


def test_baselines_bracket_every_block_and_recur_every_minute(lab):
    def slow(process):
        if process.trial["protocol"] == "rest":
            process.host.time.passes(45.0)
        yield from good_requester(process)

    lab.host.requester = lambda number: slow
    lab.run(plan(*["rest"], repeats=1, **_several_cells("rest", 4)))
    moments = [b.moment for b in lab.runs.manifest().baselines if b.kind == "ping"]
    assert moments == ["before", "during", "after"]


def _several_cells(protocol: str, number: int) -> dict[str, object]:
    one = plan(protocol, repeats=1)
    stacks = tuple(replace(one.stacks[0], id=f"{protocol}-{n}") for n in range(number))
    cells = tuple(replace(one.cells[0], id=f"{stack.id}__echo__local__reuse__c1", stack=stack.id) for stack in stacks)
    trials = tuple(replace(one.trials[0], index=n, cell=cell.id) for n, cell in enumerate(cells))
    return {"stacks": stacks, "cells": cells, "trials": trials}


def test_a_tcp_floor_carries_as_many_bytes_as_its_cells_and_names_them(lab):
    lab.run(plan("tcp", "rest", repeats=1))
    floors = [b for b in lab.runs.manifest().baselines if b.kind == "tcp"]
    assert {(b.send_bytes, b.receive_bytes, b.policy) for b in floors} == {(64, 64, "reuse")}
    assert set(floors[0].cells) == {"tcp__echo__local__reuse__c1", "rest__echo__local__reuse__c1"}


def dies_in(protocol: str):
    def talk(process):
        yield from () if process.serve["protocol"] == protocol else good_responder(process)

    return lambda argv: talk


def test_a_stack_that_fails_the_smoke_test_is_left_out_and_the_others_are_measured(lab):
    lab.host.responder = dies_in("rest")
    result = lab.run(plan("rest", "tcp", "websocket", repeats=2))
    records = lab.runs.manifest().trials
    assert {(r.cell, r.outcome) for r in records[:3]} == {
        ("rest__echo__local__reuse__c1", "failed"),
        ("tcp__echo__local__reuse__c1", "ok"),
        ("websocket__echo__local__reuse__c1", "ok"),
    }
    assert {r.failure.stage for r in records if r.failure} == {"smoke"}
    assert len(words(lab.diary, "start responder rest")) == 1
    assert isinstance(result.error(), errors.TrialsFailed)
    assert "so long" in (lab.runs.path / "logs" / "smoke-rest-echo.txt").read_text()


def test_where_one_of_two_stacks_works_nothing_is_measured(lab):
    lab.host.responder = dies_in("rest")
    with pytest.raises(errors.TrialsFailed, match="one stack alone works"):
        lab.run(plan("rest", "tcp", repeats=2))
    assert not words(lab.diary, "start responder tcp")[1:]


def test_a_responder_that_closes_its_connections_is_left_out_before_anything_is_measured(lab):
    def closed(process):
        yield checked_line()
        yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
        Path(process.trial["record"]).write_bytes(rows(10))
        yield {**done_line(10), "connections_opened": 10}

    lab.host.requester = lambda number: closed
    lab.run(plan("rest", repeats=2))
    failures = {trial.failure.kind for trial in lab.runs.manifest().trials}
    assert failures == {"connections"}
    assert "protocol_version" in (lab.runs.path / "logs" / "smoke-rest-echo.txt").read_text()


def test_when_nothing_works_no_floor_is_measured_beside_it(lab):
    lab.host.responder = dies_in("rest")
    result = lab.run(plan("rest", repeats=2))
    assert (result.trials, result.failed_trials) == (2, 2)
    assert lab.runs.manifest().baselines == ()


def test_a_trial_that_fails_is_recorded_with_last_words_and_the_others_go_on(lab):
    def fails_once(number):
        return script(None) if number == 2 else good_requester  # 0: smoke, 1: floor, 2: the first trial

    lab.host.requester = fails_once
    result = lab.run(plan("tcp", repeats=2))
    assert (result.trials, result.failed_trials) == (2, 1)
    failed = lab.runs.journal_state().trials[0]
    assert "so long" in failed.failure.last_words
    assert lab.runs.manifest().trials[0].failure == Failure(stage=failed.failure.stage, kind="requester-died")
    assert "so long" in (lab.runs.path / "logs" / "trial-0000-a0.txt").read_text()


def test_a_requester_that_is_done_but_stored_nothing_fails_its_trial(lab):
    def stores_nothing(process):
        for line in good_requester(process):
            if isinstance(line, dict) and line["type"] == "done" and process.trial["operation"] == "echo":
                Path(process.trial["record"]).unlink(missing_ok=True)
            yield line

    lab.host.requester = lambda number: stores_nothing
    result = lab.run(plan("tcp", repeats=1))
    assert result.failed_trials == 1
    failure = lab.runs.manifest().trials[0].failure
    assert failure.stage == "collect"


@pytest.mark.parametrize("step", ["provision", "deploy"])
@pytest.mark.parametrize("error", [errors.ProvisionError("no capacity"), interrupted()])
def test_a_deployment_that_fails_or_is_interrupted_is_torn_down_with_a_receipt(lab, step, error):
    lab.deployment.fails[step] = error
    with pytest.raises(type(error)):
        lab.run(plan())
    assert lab.diary[-1] == "teardown"
    assert lab.console.lines[-1] == "receipt (fake): 1 created, 1 destroyed, nothing left"
    assert lab.runs.manifest().state == "interrupted"


def test_a_teardown_that_leaves_something_exits_6(lab):
    lab.deployment.left = ("h",)
    assert isinstance(lab.run(plan(repeats=1)).error(), errors.TeardownIncomplete)


def test_what_is_left_after_a_failure_decides_the_exit_code_and_the_failure_is_told_too(lab):
    lab.deployment.fails["deploy"] = errors.ProvisionError("no deploy")
    lab.deployment.left = ("h",)
    with pytest.raises(errors.TeardownIncomplete, match="still up: h"):
        lab.run(plan())
    assert lab.console.warnings == ["no deploy"]


def test_a_teardown_that_fails_says_how_to_go_on(lab):
    lab.deployment.fails["teardown"] = errors.ProvisionError("no network")
    with pytest.raises(errors.TeardownIncomplete, match="no network") as caught:
        lab.run(plan(repeats=1))
    assert str(caught.value.hint) == f"run `orch teardown {lab.runs.id}` again"
    assert caught.value.details["run"] == lab.runs.id


def test_keep_leaves_the_hosts_up_and_says_so(lab):
    result = lab.run(plan(repeats=1), keep=True)
    assert "teardown" not in lab.diary
    assert result.kept == {"provider": "fake", "hosts": ["h"]}


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4], ids=["smoke", "floor", "trial", "floor after", "second block"])
def test_an_interrupt_keeps_finished_trials_ends_all_processes_and_tears_down(lab, number):
    lab.host.requester = lambda n: script(interrupted()) if n == number else good_requester
    with pytest.raises(errors.Interrupted):
        lab.run(plan("tcp", repeats=2))
    assert lab.host.left_behind == []
    assert lab.diary[-1] == "teardown"
    manifest = lab.runs.manifest()
    assert manifest.state == "interrupted"
    assert len(manifest.trials) == (1 if number >= 3 else 0)
    assert all((lab.runs.path / path).exists() for path in manifest.files)


def test_a_run_goes_on_where_it_was_cut_and_repeats_the_cut_block_whole(lab):
    planned = plan("tcp", "rest", repeats=2)
    # 0, 1: smoke; block 0: floor, two trials, floor; block 1: floor, a trial, and then the cut
    lab.host.requester = lambda n: script(interrupted()) if n == 8 else good_requester
    with pytest.raises(errors.Interrupted):
        lab.run(planned)
    assert [t.index for t in lab.runs.manifest().trials] == [0, 1, 2]
    lab.host.requester = lambda n: good_requester
    lab.diary.clear()
    result = lab.run(planned)
    manifest = lab.runs.manifest()
    assert [(t.index, t.attempt) for t in manifest.trials] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert any("block 2 was interrupted and repeated" in warning for warning in manifest.warnings)
    assert manifest.state == "complete"
    assert result.trials == 4
    assert len(pd.read_parquet(lab.runs.path / "samples")) == 40
    assert all("-a1" in path.stem for path in (lab.runs.path / "samples").rglob("*b001*.parquet"))
    assert len(words(lab.diary, "start responder rest")) == 2  # its smoke test and one trial


@pytest.mark.parametrize("cut", ["collect", "check", "report", "teardown"])
def test_a_run_that_was_cut_after_its_last_trial_is_only_judged_reported_and_taken_down(lab, monkeypatch, cut):
    with monkeypatch.context() as killed:
        killed.setattr(Run, f"_{cut}", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        killed.setattr(lab.deployment, "teardown", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            lab.run(plan("tcp"))
    left = how_unfinished(lab.runs)
    assert left == ("" if cut != "collect" else "every trial is stored, and the report and the teardown are left")
    lab.diary.clear()
    result = lab.run(plan("tcp"))
    assert lab.diary == ["teardown"]
    assert (result.is_complete, result.trials, lab.runs.manifest().state) == (True, 2, "complete")
    assert (lab.runs.path / "receipt.json").is_file()


def test_a_run_does_not_end_before_it_began_where_the_clock_was_set_back():
    time = FakeTime()
    jumping = [10_000, 2_000]
    clock = Clock(wall_ns=lambda: jumping.pop(0) * 10**9, monotonic_s=time.clock().monotonic_s).steady()
    began = clock.iso()
    time.passes(5.0)
    assert began < clock.iso()


def test_resume_refuses_a_host_that_is_not_what_it_was(lab):
    lab.host.requester = lambda n: script(interrupted()) if n == 2 else good_requester
    with pytest.raises(errors.Interrupted):
        lab.run(plan("tcp"))
    lab.host.facts_now = Description(kernel="6.2")
    with pytest.raises(errors.UsageError, match=r"kernel: 6\.1, now 6\.2"):
        lab.run(plan("tcp"))
    assert lab.diary[-1] == "teardown"


def test_a_lost_host_ends_the_run_with_exit_4_and_keeps_what_is_finished(lab):
    lab.host.requester = lambda n: script(HostLost("h does not answer")) if n == 4 else good_requester
    with pytest.raises(errors.ProvisionError, match="h does not answer"):
        lab.run(plan("tcp", repeats=2))
    assert len(lab.runs.manifest().trials) == 1
    assert lab.diary[-1] == "teardown"


def test_the_wall_time_ends_a_run_between_trials_and_says_so(lab):
    planned = plan("tcp", repeats=50)
    result = lab.run(replace(planned, limits=replace(planned.limits, wall_s=30.0)))
    assert not result.is_complete
    assert 0 < result.trials < 50
    assert "limits.wall is used up" in lab.console.warnings[-1]
    assert lab.runs.manifest().state == "interrupted"


def test_a_full_disk_keeps_nobody_from_tearing_down(lab, monkeypatch):
    real = RunFolder.append

    def full(self, event, *, sync=True):
        if event["event"] in ("stage", "end") and "start responder tcp" in lab.diary:
            raise errors.MissingError("the disk is full")
        real(self, event, sync=sync)

    monkeypatch.setattr(RunFolder, "append", full)
    with pytest.raises(errors.MissingError, match="disk is full"):
        lab.run(plan("tcp"))
    assert lab.diary[-1] == "teardown"


def test_a_full_disk_ends_the_run_and_keeps_finished_trials(lab, monkeypatch):
    from orchestrator.results import convert

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    lab.host.requester = lambda n: good_requester
    real = convert.pq.write_table
    monkeypatch.setattr(convert.pq, "write_table", full)
    with pytest.raises(errors.MissingError, match="disk is full"):
        lab.run(plan("tcp", repeats=2))
    assert lab.diary[-1] == "teardown"
    monkeypatch.setattr(convert.pq, "write_table", real)
    result = lab.run(plan("tcp", repeats=2))
    assert (result.is_complete, result.trials) == (True, 2)
    assert len(pd.read_parquet(lab.runs.path / "samples")) == 20


@pytest.mark.parametrize("keep", [True, False])
def test_nothing_follows_the_end_in_the_journal_so_that_the_manifest_is_bound_to_all_of_it(lab, keep):
    lab.run(plan("tcp"), keep=keep)
    assert [event["event"] for event in lab.runs.events()][-1] == "end"
    written = (lab.runs.path / "manifest.json").read_bytes()
    assert "manifest.json" in verify(RunFolder.open(lab.runs.path))
    assert lab.runs.manifest_bytes() == written
