"""Every check fires on exactly its own error, and none fails on a clean run. The errors here are made up in the data;
`test_checks_on_real_faults.py` has the harness itself commit them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import action, explanation
from tests.support.drafts import leave_unsent, longer
from tests.support.judged import of, verdicts
from tests.support.made_up import CLEAN, FAULTS, HERE, NEW_OF_EACH, OPEN, SHARED, SHARED_RATE, WEST
from tests.support.matrix import others_slow
from tests.support.runs import MS, US, S, a_plan, a_run, host_counters

OF_PROCESSES: dict[str, dict[str, Any]] = {
    "four processes": SHARED,
    "four processes on each of two hosts": {**SHARED, "requesters": 2},
    "a rate of four processes": SHARED_RATE,
    "new connections of four processes": NEW_OF_EACH,
    "one in flight in each process": {**SHARED, "load": p.Load(concurrency=4, requests=4000)},
}


RUNS = [(name, seed) for name in {**CLEAN, **OF_PROCESSES} for seed in (1, 2, 3)]
LIGHT = {("four processes", 1), ("a rate of four processes", 1)}


@pytest.mark.parametrize(("name", "seed"), others_slow(RUNS, lambda name, seed: name in CLEAN or (name, seed) in LIGHT))
def test_a_clean_run_fails_nothing_and_warns_of_nothing(name, seed):
    planned = {**CLEAN, **OF_PROCESSES}[name]
    judgement = verdicts(a_run(seed=seed, **planned))
    if planned.get("load", p.Load()).rate_per_s is not None:
        assert judgement.pop("Little's law") == "cannot tell"
    assert set(judgement.values()) <= {"pass", "not applicable"}, judgement
    idle = {name for name, verdict in judgement.items() if verdict == "not applicable"}
    assert idle == expected_idle(planned)


def expected_idle(planned):
    """What has nothing to look at in such a run."""
    idle = {"event stream", "CPU time", "referee"}
    if "controls" not in planned:
        idle.add("control")
    if "placements" not in planned:
        idle.add("round-trips")
    if "requesters" not in planned and not any("processes" in call for call in planned.get("calls", ())):
        idle.add("requesters together")
    return idle


def test_a_finding_gives_numbers_an_explanation_and_an_action():
    def spoil(draft):
        draft.columns["sent_ns"][:] = draft.columns["received_ns"] - 1_000

    for result in summarise(a_run(spoil=spoil)).checks:
        assert explanation(result).endswith(".")
        assert action(result).endswith(".")
        assert result.severity in ("fatal", "serious", "note")
        if result.verdict == "fail":
            assert result.evidence


@pytest.mark.parametrize(
    ("spoil", "check", "verdict", "planned"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}-{i}" for i, f in enumerate(FAULTS)]
)
def test_the_check_fires_on_its_error(spoil, check, verdict, planned):
    assert verdicts(a_run(spoil=spoil, **planned))[check] == verdict


def test_a_shortfall_of_a_few_per_cent_below_the_ping_cannot_be_told():
    def spoil(draft):
        """A path that was 5 % faster while the requests ran than while the pings did."""
        if draft.cell.placement == "west":
            draft.done["min_rtt_us"] = None
            draft.columns["received_ns"] = draft.columns["received_ns"] - 2 * MS

    run = a_run(spoil=spoil, placements=[HERE, WEST])
    assert {result.cell: result.verdict for result in of(run, "floor")}[
        "grpc-thin__add__west__reuse__c1"
    ] == "cannot tell"


@pytest.mark.parametrize(
    ("reason", "why"),
    [("connections-busy", "all connections were busy"), ("requester-behind", "the requester could not keep up")],
)
def test_what_was_not_sent_is_no_error_and_counted_once(reason, why):
    """The second half of the schedule is never sent, as the first took the whole window."""

    def overload(draft):
        rows = draft.columns
        order = np.argsort(rows["intended_ns"], kind="stable")
        unsent = order[order.size // 2 :]
        first, last = int(rows["intended_ns"].min()), int(rows["intended_ns"].max())
        stretched = first + (rows["intended_ns"] - first) * 2
        rows["received_ns"] = stretched + 300 * US
        rows["sent_ns"] = stretched
        leave_unsent(draft, unsent, last, reason)

    run = a_run(spoil=overload, stacks=("rest",), warmup=0, **OPEN)
    (cell,) = summarise(run).cells
    assert (cell.counts.errors, cell.counts.not_sent) == ({}, 5 * 1000)
    (result,) = of(run, "offered load")
    assert result.verdict == "fail"
    assert cell.counts.share_unsent == pytest.approx(0.5)
    assert {trial.not_sent for trial in cell.trials} == {1000}
    assert result.evidence["block"] == cell.trials[result.evidence["trial"]].block + 1  # a single cell: trial is block
    delivered = result.evidence["achieved_per_s"] / result.evidence["intended_per_s"]
    assert delivered == pytest.approx(0.5, abs=0.05)  # half of the requests, but not of the time: gaps are random
    described = f"Only {delivered:.0%}".replace("%", " %")
    assert f"{described} of 500 requests per second were sent, 1,000 were not ({why})" in explanation(result)
    assert verdicts(run)["completeness"] == verdicts(run)["reply"] == "pass"


def test_a_control_that_differs_from_itself_is_a_warning():
    def spoil(draft):
        if "-aa" in draft.cell.stack:
            longer(draft, 40 * US)

    assert verdicts(a_run(spoil=spoil, controls=1))["control"] == "warn"


def test_a_failed_trial_is_a_warning_and_the_others_count():
    run = a_run()
    first, *rest = run.stored.trials
    failed = replace(first, outcome="failed", requesters=(), failure={"kind": "responder-died", "message": "it died"})
    run.stored = replace(run.stored, trials=(failed, *rest))
    summary = summarise(run)
    assert [c.verdict for c in summary.checks if c.name == "completeness" and c.cell == failed.cell] == ["warn"]
    assert summary.run.failed_trials[0]["failure"]["kind"] == "responder-died"
    assert [len(cell.trials) for cell in summary.cells if cell.id == failed.cell] == [4]


def test_what_the_responder_did_in_the_warm_up_hides_no_foreign_work():
    """The requester's host is read when the warm-up is over: only what the responder used since is its own there."""

    def spoil(draft):
        for name, cpu_s in (("stats_before", 0.2), ("stats_warm", 8.2), ("stats", 10.2)):
            draft.__dict__[name]["cpu_s"] = cpu_s
        draft.done["cpu_s"], draft.done["host_before"] = 3.0, host_counters(0)
        draft.done["host_after"] = host_counters(10 * S, busy=500 + 300)

    (result, _) = of(a_run(spoil=spoil), "noise")
    assert result.verdict == "warn"
    assert result.evidence["foreign"] == pytest.approx(0.3)


@pytest.mark.parametrize(("provider", "verdict"), [("lab", "pass"), ("gcp", "warn")])
def test_in_a_lab_the_other_end_of_the_wire_is_no_foreign_work(provider, verdict):
    def spoil(draft):
        """The responder was busy for six seconds of ten, which both ends' counters hold only on one machine."""
        draft.stats["cpu_s"], draft.done["cpu_s"] = 6.2, 0.3
        draft.done["host_before"], draft.done["host_after"] = host_counters(0), host_counters(10 * S, busy=630)
        draft.stats["host"] = host_counters(10 * S, busy=630)

    plan = replace(a_plan(placements=[WEST]), provider=provider)
    assert verdicts(a_run(plan, spoil=spoil))["noise"] == verdict
