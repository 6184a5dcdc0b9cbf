"""A run that searches for rates: it follows the verdicts, goes on after a kill, and knows what tells it nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.experiment.plan.loads import next_step, room, search_bounds
from orchestrator.experiment.plan.plan import Find, Plan
from orchestrator.results.manifest import TrialRecord
from services.python.contract.lines import STATUSES
from services.python.load.record import HEADER
from tests.orchestrator.measure.test_run import Lab
from tests.support.hosts import ROW, FakeProcess, Line, checked_line, done_line, good_requester, interrupted, script
from tests.support.plans import plan
from tests.support.searched import P50, searching

FIND = Find(goals=P50, lowest=100.0, highest=1000.0, steps=10)
CAPACITY = {"tcp": 300.0, "rest": 5000.0, "http+cbor": 50.0}
N = 200


@pytest.fixture
def lab(no_analysis: None, tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.host.requester = lambda number: asks(CAPACITY)
    return lab


def a_record(rate: float, latency_ns: int, status: int = 0) -> bytes:
    stamps = ((n, 1_000_000_000 + int(n * 1e9 / rate)) for n in range(N))
    return HEADER + b"".join(
        ROW.pack(n + 1, 1, 0, due, due, due + latency_ns, -1, 64, 64, status, 0, 0, 0, 0) for n, due in stamps
    )


def asks(capacity: dict[str, float], *, status: int = 0) -> Callable[[FakeProcess], Iterator[Line]]:
    """A requester to which its protocol answers in 1 ms up to its capacity, and above it in 50 ms, or with `status`."""

    def talk(process: FakeProcess) -> Iterator[Line]:
        load = process.trial["load"]
        if load["rate_per_s"] is None:
            yield from good_requester(process)
            return
        yield checked_line()
        yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
        yield {"type": "warm", "requests": 0}
        is_over = load["rate_per_s"] > capacity[process.trial["protocol"]]
        failed = status if is_over else 0
        content = a_record(load["rate_per_s"], 50_000_000 if is_over else 1_000_000, failed)
        Path(process.trial["record"]).write_bytes(content)
        yield done_line(N, errors={STATUSES[failed]: N} if failed else {})

    return talk


def a_plan(*protocols: str, repeats: int = 2) -> Plan:
    return searching(plan(*protocols), FIND, repeats=repeats)


def by_search(trials: tuple[TrialRecord, ...], rounds: int) -> dict[tuple[str, int], list[TrialRecord]]:
    searches: dict[tuple[str, int], list[TrialRecord]] = {}
    for trial in trials:
        searches.setdefault((trial.cell, trial.block // rounds), []).append(trial)
    return searches


def ended(trials: list[TrialRecord]) -> tuple[int, int]:
    held = [trial.probe.verdict == "held" for trial in trials if trial.probe]
    assert next_step(FIND, held) is None
    return search_bounds(FIND, held)


@pytest.mark.slow
def test_every_repeat_finds_the_rate_up_to_which_its_stack_answers_in_time(lab):
    planned = a_plan("tcp", "rest", "http+cbor")
    result = lab.run(planned)
    assert (result.is_complete, result.failed_trials) == (True, 0)
    searches = by_search(lab.runs.manifest().trials, planned.rounds)
    assert {(cell.split("__")[0], repeat): ended(trials) for (cell, repeat), trials in searches.items()} == {
        (name, repeat): (low, low + 1)
        for name, low in (("tcp", 4), ("rest", 10), ("http+cbor", -1))
        for repeat in (0, 1)
    }
    assert FIND.rate(4) <= 300 < FIND.rate(5)
    loads = [p.trial["load"] for p in lab.host.processes if p.role == "requester"]
    first = next(load for load in loads if load["rate_per_s"] is not None)
    assert first["rate_per_s"] == FIND.rate(5), "the middle of the rates"
    assert first["concurrency"] == room(FIND.rate(5)), "enough at that rate"


def test_the_stacks_take_turns_at_every_step(lab):
    planned = a_plan("tcp", "rest", repeats=1)
    lab.run(planned)
    for block in range(planned.blocks):
        cells = [trial.cell for trial in lab.runs.manifest().trials if trial.block == block]
        assert len(cells) == len(set(cells))
        if block % planned.rounds < 3:
            assert len(cells) == 2


def test_a_search_that_is_over_asks_no_more_and_no_floor_is_taken_for_it(lab):
    planned = a_plan("http+cbor", repeats=1)
    lab.run(planned)
    manifest = lab.runs.manifest()
    assert len(manifest.trials) < len(planned.trials)
    assert {b.block for b in manifest.baselines} == {t.block for t in manifest.trials}
    lines = [line for line in lab.console.lines if "requests in" in line]
    assert len(lines) == len(manifest.trials)
    assert all(": not held" in line for line in lines)
    assert f"{FIND.rate(5):g}/s: 200 requests" in lines[0], "the rate that is tried"


@pytest.mark.slow
@pytest.mark.parametrize("at", [5, 9, 12, 17])
def test_a_search_that_was_cut_goes_on_where_it_was(lab, tmp_path, at):
    planned = a_plan("tcp", "rest")
    lab.host.requester = lambda number: script(interrupted()) if number == at else asks(CAPACITY)
    with pytest.raises(errors.Interrupted):
        lab.run(planned)
    before = {(t.block, t.cell): t.probe for t in lab.runs.manifest().trials}
    lab.host.requester = lambda number: asks(CAPACITY)
    lab.run(planned)
    trials = lab.runs.manifest().trials
    after = {(t.block, t.cell): t.probe for t in trials}
    assert before.items() <= after.items(), "what was finished is not asked again, nor differently"
    assert {ended(of) for of in by_search(trials, planned.rounds).values()} == {(4, 5), (10, 11)}
    other = Lab(tmp_path / "whole")
    other.host.requester = lambda number: asks(CAPACITY)
    other.run(planned)
    whole = {(t.block, t.cell): t.probe for t in other.runs.manifest().trials}
    assert after == whole, "the same trials as without the kill"


@pytest.mark.slow
def test_where_not_one_request_is_answered_the_goal_does_not_hold(lab):
    lab.host.requester = lambda number: asks(CAPACITY, status=STATUSES.index("timeout"))
    planned = a_plan("tcp", repeats=1)
    result = lab.run(planned)
    trials = list(lab.runs.manifest().trials)
    assert ended(trials) == (4, 5)
    assert result.failed_trials == sum(t.probe.verdict == "not held" for t in trials if t.probe) > 0


@pytest.mark.slow
def test_a_trial_that_fails_for_another_reason_ends_its_search_without_a_result(lab):
    dies = script(checked_line(), None)
    lab.host.requester = lambda number: dies if number == 5 else asks(CAPACITY)
    planned = a_plan("tcp", repeats=2)
    lab.run(planned)
    first, second = by_search(lab.runs.manifest().trials, planned.rounds).values()
    assert [t.probe.verdict for t in first if t.probe][-1] == "no result"
    assert len(first) == 2 < len(second)
    assert ended(second) == (4, 5)


def test_a_stack_that_does_not_work_is_not_searched(lab):
    lab.host.requester = lambda number: script(checked_line(), None) if number == 0 else asks(CAPACITY)
    planned = a_plan("tcp", repeats=2)
    result = lab.run(planned)
    assert [t.probe.verdict for t in lab.runs.manifest().trials if t.probe] == ["no result"] * 2
    assert result.failed_trials == 2
