from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import Interrupted
from orchestrator.experiment.plan.plan import External
from orchestrator.hosts.base import HostLost, Pair
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench, TrialRun
from services.python.contract.counters import HostCounters
from services.python.contract.lines import Load
from services.python.contract.responder_lines import Stats
from tests.support.hosts import (
    FakeHost,
    FakeTime,
    checked_line,
    done_line,
    good_requester,
    good_responder,
    interrupted,
    ready_line,
    script,
    stats_line,
)

ASK = Ask(protocol="tcp", responder="threads", client="socket", operation="echo", load=Load(requests=10), timeout_s=5.0)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    return FakeHost(folder=tmp_path / "host", time=FakeTime(), diary=[])


def make(host: FakeHost, *, ask: Ask = ASK, requesters: int = 1, **more: Any) -> TrialRun:
    bench = Bench(clock=host.time.clock(), interrupts=Interrupts(), on_progress=lambda line: None, **more)
    return bench.make(ask, Pair((host,) * requesters, host), "t0")


def test_a_trial_starts_both_ends_afresh_and_ends_both(host):
    outcome = make(host)
    assert outcome.failure is None
    assert host.diary == ["start responder tcp", "start requester", "end requester", "end responder tcp"]
    assert outcome.parts[0].done.requests == 10
    assert outcome.stats == Stats(answered=10, peers=2, cpu_s=0.1, host=HostCounters())


def test_the_requester_is_told_where_the_responder_stands_and_who_it_is(host):
    make(host)
    responder, requester = host.processes
    address = {"host": "198.18.0.1", "port": 4711, "identity": responder.serve["identity"], "anonymous": False}
    assert requester.trial["target"] == address


def test_a_service_that_runs_already_is_asked_by_its_name_and_neither_started_nor_ended(host):
    outcome = make(host, ask=replace(ASK, external=External(given="there", host="198.18.0.9", port=4712)))
    assert outcome.failure is None
    assert host.diary == ["start requester", "end requester"]
    (requester,) = host.processes
    address = {"host": "there", "port": 4712, "identity": None, "anonymous": True}
    assert requester.trial["target"] == address
    assert (outcome.target.ready, outcome.stats_before, outcome.stats) == (None, None, None)


def test_a_failure_beside_a_responder_that_runs_already_is_told_as_the_requester_saw_it(host):
    host.requester = lambda number: script({"type": "failed", "kind": "refused", "message": "no server"})
    failure = make(host, ask=replace(ASK, external=External(given="there", host="198.18.0.9", port=4712))).failure
    assert (failure.stage, failure.kind, failure.message) == ("check", "refused", "the requester gave up: no server")
    assert "responder" not in failure.last_words
    assert host.left_behind == []


def test_a_trial_that_asks_nobody_has_a_requester_alone(host):
    outcome = make(host, ask=replace(ASK, kind="codec"))
    assert outcome.failure is None
    assert host.diary == ["start requester", "end requester"]
    assert host.processes[0].trial["target"] is None


@pytest.mark.parametrize(("readings", "used_s"), [([None] * 3, None), ([1.0, 3.0, 5.5], 2.5)])
def test_what_is_used_beside_the_hosts_is_counted_from_the_warm_up_on(host, readings, used_s):
    assert make(host, beside_cpu_s=iter(readings).__next__).beside_cpu_s == used_s


def test_several_requesters_are_started_at_once_and_store_apart(host):
    outcome = make(host, requesters=3)
    trials = [p.trial for p in host.processes if p.role == "requester"]
    assert {t["start_at_unix_ns"] for t in trials} == {None}
    assert len({t["record"] for t in trials}) == 3
    assert len({t["seed"] for t in trials}) == 3
    assert len(outcome.parts) == 3


def test_the_responder_is_asked_when_all_are_warm_and_before_any_measures(host):
    stats = itertools.count(1)

    def counting(process):
        yield ready_line(process)
        for number in stats:
            yield stats_line(answered=number)

    host.responder = lambda argv: counting
    outcome = make(host, requesters=3)
    assert outcome.failure is None
    answers = [outcome.stats_before, outcome.stats_warm, outcome.stats]
    assert [answer.answered for answer in answers] == [1, 2, 3]
    requesters = [p for p in host.processes if p.role == "requester"]
    assert [p.received[1:] for p in requesters] == [["measure"]] * 3  # no moment: hosts have clocks of their own
    assert all(p.trial["hold"] for p in requesters)


@pytest.mark.parametrize(("wanted", "serving"), [("4", 0), ("4", 3), (None, 2)])
@pytest.mark.parametrize("line", ["ready", "stats"])
def test_a_responder_of_another_number_of_workers_is_not_measured(host, line, wanted, serving):
    def another(process):
        planned = int(wanted) if wanted else None
        yield ready_line(process, workers=(serving or None) if line == "ready" else planned)
        yield stats_line(workers=[{"answered": 0, "peers": 0}] * serving)

    host.responder = lambda argv: another
    failure = make(host, ask=replace(ASK, knobs={"workers": wanted} if wanted else {})).failure
    assert (failure.stage, failure.kind) == ("start", "protocol")
    words = {
        "ready": f"the responder answers from {serving or 1} processes, not from {wanted or 1}",
        "stats": f"the responder's `stats` are of {serving} workers, not of {wanted or 1}",
    }
    assert failure.message == words[line]
    assert host.left_behind == []


SHARED = replace(ASK, processes=3, load=Load(concurrency=7, requests=700), knobs={"connections": "4"})


def test_the_processes_of_a_host_share_its_load_and_begin_at_one_moment(host):
    outcome = make(host, ask=SHARED)
    assert outcome.failure is None
    requesters = [p for p in host.processes if p.role == "requester"]
    loads = [p.trial["load"] for p in requesters]
    assert [(load["concurrency"], load["requests"]) for load in loads] == [(3, 300), (2, 200), (2, 200)]
    assert [p.trial["knobs"] for p in requesters] == [{"connections": number} for number in ("2", "1", "1")]
    assert len({p.trial["seed"] for p in requesters}) == len({p.trial["record"] for p in requesters}) == 3
    assert [p.received[1:] for p in requesters] == [[f"measure {int(1_000.05 * 1e9)}"]] * 3
    assert [(part.host.name, part.requester.process) for part in outcome.parts] == [
        ("fake", 0),
        ("fake", 1),
        ("fake", 2),
    ]


def test_when_several_hosts_were_heard_and_told_is_kept_by_the_clock_here(host):
    parts = make(host, requesters=2).parts
    assert all(part.requester.heard is not None for part in parts)
    for part in parts:
        assert part.requester.heard.warm_ns <= part.requester.heard.told_ns <= part.requester.heard.done_ns
        assert part.requester.heard.told_ns == 1_000 * 10**9
    assert [part.requester.heard for part in make(host).parts] == [None]  # one host: nothing to tell apart


def test_each_process_has_a_cpu_of_its_own_as_far_as_there_are_any(host):
    pair = Pair((host,), host, "1", "0", more_cpus=("2",))
    bench = Bench(clock=host.time.clock(), interrupts=Interrupts(), on_progress=lambda line: None)
    assert [part.requester.cpus for part in bench.make(SHARED, pair, "t0").parts] == ["1", "2", "1"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_process_that_dies_while_others_measure_is_named_and_none_is_left(host, place):
    def dies(process):
        yield from itertools.islice(good_requester(process), 3)  # checked, start, warm
        yield None

    host.requester = lambda number: dies if number == place else good_requester
    failure = make(host, ask=SHARED).failure
    assert (failure.kind, failure.message) == ("requester-died", f"requester process {place + 1} of 3 on fake died")
    assert f"requester process {place + 1} of 3 on fake: so long" in failure.last_words
    assert host.left_behind == []


@pytest.mark.parametrize(
    "ask", [replace(ASK, load=Load(requests=0)), replace(ASK, kind="codec")], ids=["smoke", "codec"]
)
def test_who_has_no_responder_to_ask_or_nothing_to_measure_is_not_held(host, ask):
    make(host, ask=ask)
    (requester,) = [p for p in host.processes if p.role == "requester"]
    assert requester.trial["hold"] is False
    assert requester.received[1:] == []


READY = {"type": "ready", "contract": 2, "port": 1, "implementation": "x", "identity": "someone else's"}

BROKEN_RESPONDERS = {
    "dies at once": (script(None), "start", "responder-died"),
    "is never ready": (script(TimeoutError()), "start", "responder-hung"),
    "prints a banner": (script("Serving on port 80"), "start", "protocol"),
    "says no port": (script({key: value for key, value in READY.items() if key != "port"}), "start", "protocol"),
    "is another one": (script(READY), "start", "identity"),
    "speaks another contract": (script({**READY, "contract": 1}), "start", "protocol"),
}


@pytest.mark.parametrize("case", BROKEN_RESPONDERS)
def test_a_responder_that_breaks_the_contract_fails_the_trial(host, case):
    talk, stage, kind = BROKEN_RESPONDERS[case]
    host.responder = lambda argv: talk
    outcome = make(host)
    assert (outcome.failure.stage, outcome.failure.kind) == (stage, kind)
    assert "responder: so long" in outcome.failure.last_words
    assert host.left_behind == []


def test_why_a_responder_did_not_start_is_what_it_says_in_its_last_line(host, monkeypatch):
    host.responder = lambda argv: script(None)
    monkeypatch.setattr("tests.support.hosts.FakeProcess.end", lambda self, grace_s=5.0: 1)
    monkeypatch.setattr(
        "tests.support.hosts.FakeProcess.last_words", lambda self: "warned\nthe database is not there\n"
    )
    failure = make(host).failure
    assert (failure.stage, failure.kind) == ("start", "responder-died")
    assert failure.message == "the responder did not start: the database is not there"


def dies_while_measuring(process):
    yield ready_line(process)
    yield stats_line()  # at the start, and when the requester is warm
    yield stats_line()
    yield None


def test_a_responder_that_died_while_measuring_fails_the_trial_though_the_requester_was_done(host):
    host.responder = lambda argv: dies_while_measuring
    failure = make(host).failure
    assert (failure.stage, failure.kind) == ("measure", "responder-died")


def test_what_the_requester_saw_of_a_responder_that_died_is_laid_to_the_responder(host):
    def dies_after_its_start(process):
        yield from itertools.islice(good_responder(process), 2)  # ready, and the stats before

    host.responder = lambda argv: dies_after_its_start
    host.requester = lambda number: script(
        CHECKED, START, {"type": "failed", "kind": "refused", "message": "no server"}
    )
    failure = make(host).failure
    assert (failure.stage, failure.kind) == ("warm-up", "responder-died")
    assert failure.message == "the responder died (exit status 0); the requester gave up: no server"


CHECKED = checked_line()
START = {"type": "start", "anchor": {"wall_ns": 1, "monotonic_ns": 1}}
WARM = {"type": "warm", "requests": 0}
PROGRESS = {"type": "progress", "phase": "measured", "requests": 1, "elapsed_s": 1.0}
BROKEN_REQUESTERS = {
    "dies before it checked": (script(None), "check", "requester-died"),
    "is told a wrong reply": (
        script({"type": "failed", "kind": "wrong-reply", "message": "2"}),
        "check",
        "wrong-reply",
    ),
    "falls silent": (script(CHECKED, START, TimeoutError()), "warm-up", "hung"),
    "dies while measuring": (script(CHECKED, START, WARM, PROGRESS, None), "measure", "requester-died"),
    "prints no JSON": (script(CHECKED, "Traceback"), "check", "protocol"),
    "says nothing of what it did": (script(CHECKED, START, {"type": "done", "contract": 2}), "warm-up", "protocol"),
    "is done by another contract": (script(CHECKED, START, {**done_line(), "contract": 3}), "warm-up", "protocol"),
    "checked by another contract": (script({**CHECKED, "contract": 1}), "check", "protocol"),
    "is of no type": (script({"type": ["done"]}), "check", "protocol"),
    "never succeeds": (script(CHECKED, START, WARM, done_line(10, errors={"refused": 10})), "measure", "refused"),
    "is done without having waited": (script(CHECKED, START, done_line(10)), "warm-up", "protocol"),
    "measures without having waited": (script(CHECKED, START, PROGRESS, WARM, done_line(10)), "warm-up", "protocol"),
    "is warm twice": (script(CHECKED, START, WARM, PROGRESS, WARM, done_line(10)), "measure", "protocol"),
}


@pytest.mark.parametrize("case", BROKEN_REQUESTERS)
def test_a_requester_that_cannot_measure_fails_the_trial(host, case):
    talk, stage, kind = BROKEN_REQUESTERS[case]
    host.requester = lambda number: talk
    outcome = make(host)
    assert (outcome.failure.stage, outcome.failure.kind) == (stage, kind)
    assert host.left_behind == []


def test_a_trial_with_some_errors_counts(host):
    host.requester = lambda number: script(CHECKED, START, WARM, done_line(10, errors={"timeout": 3}))
    assert make(host).failure is None


def never_done(process):
    yield CHECKED
    yield START
    yield WARM
    while True:
        process.host.time.passes(60.0)
        yield PROGRESS


def test_a_load_that_ends_in_time_is_given_up_when_it_does_not(host):
    host.requester = lambda number: never_done
    failure = make(host, ask=replace(ASK, load=Load(duration_s=1.0))).failure
    assert failure.kind == "hung"


@pytest.mark.parametrize("error", [interrupted(), HostLost("gone")])
@pytest.mark.parametrize("requesters", [1, 2])
@pytest.mark.parametrize("processes", [1, 3])
def test_an_interrupt_or_a_lost_host_goes_on_to_the_caller_and_leaves_no_process(host, error, requesters, processes):
    host.requester = lambda number: script(CHECKED, START, error) if number == 0 else good_requester
    ask = replace(ASK, processes=processes, load=Load(concurrency=processes, requests=10))
    with pytest.raises((Interrupted, HostLost)):
        make(host, ask=ask, requesters=requesters)
    assert host.left_behind == []
