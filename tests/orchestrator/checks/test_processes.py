"""Several requester processes in one trial: put together by their one clock, and judged each and all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.checks.base import point
from orchestrator.checks.load.offered_load import Schedule, cut
from orchestrator.evidence.collect import collect
from orchestrator.evidence.one_clock import busiest, put_together
from orchestrator.evidence.run_evidence import Part, Samples
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import Find
from orchestrator.questions.capacity.observe import verdict
from orchestrator.results.manifest import RequesterRecord
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from services.python.contract.description import Description
from services.python.contract.lines import Load
from services.python.contract.requester_lines import Done
from services.python.load.record import Record
from tests.support.drafts import Draft
from tests.support.judged import of, verdicts
from tests.support.made_up import (
    FAULTS_OF_ONE_PROCESS,
    SHARED,
    SHARED_RATE,
    half_a_window_later,
    in_one_process,
)
from tests.support.matrix import others_slow
from tests.support.runs import a_run


def samples(sent: list[int], took: int = 10, connection: int = 0) -> Samples:
    stamps = np.asarray(sent)
    ones = np.ones(stamps.size, dtype=np.int64)
    columns = {
        "sequence": np.arange(1, stamps.size + 1),
        "phase": ones,
        "connection": ones * connection,
        "intended_ns": stamps,
        "sent_ns": stamps,
        "received_ns": stamps + took,
        "bytes_sent": ones,
        "bytes_received": ones,
        "status": ones * 0,
        "kind": ones * 0,
    }
    return Samples(columns, in_flight=1)


def test_records_of_one_clock_become_one_record_in_the_order_of_sending() -> None:
    whole = put_together([samples([0, 20, 40]), samples([5, 25, 100], connection=-1), samples([7])])
    assert list(whole.sent_ns) == [0, 5, 7, 20, 25, 40, 100]
    assert whole.span_ns == 110
    assert whole.most_in_flight == 3
    assert whole.in_flight == 3
    assert len(set(whole.columns["sequence"])) == 7
    assert len(np.unique(whole.connection)) == 3  # 0, one that was never sent, and another 0
    alone = samples([1, 2])
    assert put_together([alone]) is alone


def test_the_rate_of_a_trial_is_that_of_one_window_over_all_its_processes() -> None:
    one, four = (a_run(load=p.Load(concurrency=8, requests=4000), calls=[c]) for c in ({}, SHARED["calls"][0]))
    rates = [collect(run, {}).cells[0].trials[0].totals for run in (one, four)]
    assert [totals.ok for totals in rates] == [4000, 4000]
    assert rates[1].rate_per_s == pytest.approx(rates[0].rate_per_s, rel=0.1)
    later = collect(a_run(spoil=in_one_process(half_a_window_later), **SHARED), {}).cells[0].trials[0].totals
    assert later.rate_per_s is not None
    said = of(a_run(spoil=in_one_process(half_a_window_later), **SHARED), "requesters together")[0]
    assert explanation(said).endswith("for the rest of the time less than the declared load was asked.")
    assert later.rate_per_s < 0.7 * (rates[1].rate_per_s or 0.0)  # not the sum of rates over windows of their own


def test_an_open_loops_offered_rate_is_that_of_all_processes() -> None:
    cell = next(cell for cell in summarise(a_run(**SHARED_RATE)).cells)
    assert all(trial.offered_per_s == pytest.approx(500.0, rel=0.1) for trial in cell.trials)
    assert verdicts(a_run(**SHARED_RATE))["offered load"] == "pass"


def test_a_schedule_drawn_from_another_processs_seed_is_found() -> None:
    run = a_run(**SHARED_RATE)
    swapped = []
    for trial in run.stored.trials:
        first, second, *rest = trial.requesters
        numbers = replace(second, process=0), replace(first, process=1)
        swapped.append(replace(trial, requesters=(*numbers, *rest)))
    run.stored = replace(run.stored, trials=tuple(swapped))
    assert verdicts(run)["offered load"] == "fail"


def test_a_process_without_a_record_is_missed() -> None:
    run = a_run(**SHARED)
    cut = [replace(trial, requesters=trial.requesters[:-1]) for trial in run.stored.trials]
    run.stored = replace(run.stored, trials=tuple(cut))
    judged = verdicts(run)
    assert (judged["completeness"], judged["requesters together"]) == ("fail", "cannot tell")


def ended_early(draft: Draft) -> None:
    """The last request of the second process was never made; the responder counts the rest."""
    if draft.process == 1:
        last = draft.columns["sequence"].argmax()
        draft.columns = {name: np.delete(values, last) for name, values in draft.columns.items()}
        for name in ("rows", "requests", "verified"):
            draft.done[name] -= 1
        draft.stats["answered"] -= 1


@pytest.mark.parametrize(
    ("planned", "words"),
    [
        (SHARED, "Requester process 2 on localhost made 999 requests; its load has 1,000."),
        (
            SHARED_RATE,
            "Requester process 2 on localhost: the schedule ends before its load does, "
            "with 499 requests due in it, not 500.",
        ),
    ],
)
def test_a_process_that_ends_before_its_load_is_found(planned, words: str) -> None:
    judgement = of(a_run(spoil=ended_early, **planned), "offered load")[0]
    assert (judgement.verdict, explanation(judgement)) == ("fail", words)


def without_the_last(draft: Draft) -> None:
    """The last request was never made."""
    draft.process = 1
    ended_early(draft)


def test_turns_may_end_near_a_number_of_requests_that_has_a_time_limit_too() -> None:
    load = p.Load(concurrency=1, requests=1_000, duration_s=10.0)
    assert of(a_run(load=load, spoil=without_the_last), "offered load")[0].verdict == "pass"


def test_the_schedule_of_a_long_load_may_have_what_chance_gives_it() -> None:
    part = Part(host="h", done=None, seen={}, load=Load(rate_per_s=10_000.0, duration_s=2.0), connections=1)  # type: ignore[arg-type]
    seen = Schedule(
        intended=0, never_sent=0, intended_per_s=0, achieved_per_s=0, lag_p99_ns=0, median_ns=0, first_due="",
        first_due_ns=0, early=0, earliest_ns=0,
    )  # fmt: skip
    assert cut(replace(seen, intended=20_300), part) is None
    assert cut(replace(seen, intended=19_000), part) == point("ends-before-its-load", least=19_292, most=20_707)
    assert cut(replace(seen, intended=21_000), part) == point("goes-on-beyond-its-load", least=19_292, most=20_707)
    limited = replace(part, load=replace(part.load, requests=15_000))
    assert cut(replace(seen, intended=15_000), limited) is None
    assert cut(replace(seen, intended=14_999), limited) == point("ends-before-its-load", least=15_000, most=None)


LIGHT = {
    ("twice_its_share", "in flight"),
    ("half_the_load", "offered load"),
    ("half_a_window_later", "requesters together"),
}


@pytest.mark.parametrize(
    ("spoil", "check", "verdict", "planned"),
    others_slow(
        FAULTS_OF_ONE_PROCESS,
        lambda spoil, check, *_: (spoil.__name__.removesuffix("_in_one_process"), check) in LIGHT,
    ),
    ids=[f"{spoil.__name__}-{check}" for spoil, check, *_ in FAULTS_OF_ONE_PROCESS],
)
def test_the_check_fires_on_an_error_of_one_process_among_four(spoil, check, verdict, planned):
    assert verdicts(a_run(spoil=spoil, **planned))[check] == verdict


def requester(share: float, *, host: str = "h", cpus: str | None = None) -> RequesterRecord:
    done = Done(rows=1, warmup_requests=0, requests=1, errors={}, cpu_share=share)
    return RequesterRecord(host=host, done=done, samples="x", cpus=cpus)


@pytest.mark.parametrize(
    ("requesters", "cpus", "expected"),
    [
        ([requester(0.4)], {"h": 2}, 0.4),
        ([requester(0.4), requester(0.5)], {"h": None}, 0.5),  # nobody knows how many CPUs there are
        ([requester(0.4), requester(0.5)], {"h": 1}, 0.9),
        ([requester(0.4, cpus="1"), requester(0.5, cpus="1")], {"h": 8}, 0.9),
        ([requester(0.4, cpus="1"), requester(0.5, cpus="2")], {"h": 8}, 0.5),
        ([requester(0.9), requester(0.9), requester(0.9)], {"h": 2}, 1.35),
        ([requester(0.4, host="a", cpus="1"), requester(0.5, host="b", cpus="1")], {}, 0.5),
        ([], {}, None),
    ],
)
def test_what_is_busy_is_a_process_or_the_cpus_that_several_share(requesters, cpus, expected) -> None:
    assert busiest(requesters, cpus) == (None if expected is None else pytest.approx(expected))


def test_processes_that_share_one_cpu_are_the_limit_though_none_of_them_is() -> None:
    run = a_run(**SHARED)  # each of the four uses 30 % of a core
    assert verdicts(run)["offered load"] == "pass"
    run.stored = replace(run.stored, hosts={"localhost": Description(cpus=1)})
    judgement = of(run, "offered load")[0]
    assert (judgement.verdict, judgement.evidence["cpu_share"]) == ("warn", pytest.approx(1.2))


def test_a_search_judges_the_processes_of_a_host_together(tmp_path) -> None:
    goal = Find(goals=(Goal(statistic="p90", below=0.001),), lowest=100.0, highest=1600.0, steps=4)
    cell = a_run(**SHARED_RATE).stored.plan.cells[0]
    paths = [tmp_path / f"{number}.timings" for number in range(2)]
    for slow, path in zip((15, 0), paths, strict=True):  # of 100: too many of its own, and few of all
        with Record(path, 100) as record:
            for number in range(100):
                due = 1_000_000_000 + number * 10_000_000
                took = 5_000_000 if number < slow else 100_000
                record.append(number + 1, 1, 0, due, due, due + took, -1, 10, 10, 0)
    assert verdict(goal, cell, None, [paths[:1]]) == "not held"
    assert verdict(goal, cell, None, [paths]) == "held"
    assert verdict(goal, cell, None, [paths[:1], paths[1:]]) == "held"  # two hosts with a process each
