"""From a run folder to the one summary: what it holds, what it says, and what it refuses."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.experiment.plan import plan as p
from orchestrator.results.folder import RunFolder
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.drafts import longer
from tests.support.runs import MS, US, a_plan, a_run, write_run


def cell_of(summary, stack, operation="add", placement="local"):
    return next(c for c in summary.cells if c.id == f"{stack}__{operation}__{placement}__reuse__c1")


@pytest.fixture(scope="module")
def summary():
    return summarise(a_run(controls=1))


def test_a_cells_numbers_are_those_of_its_raw_samples():
    run = a_run()
    cell = summarise(run).cells[0]
    files = [columns for path, columns in run.files.items() if f"cell={cell.id}" in path]
    table = pd.concat([pd.DataFrame(columns) for columns in files])
    measured = table[(table.phase == 1) & (table.status == 0)]
    latency_ms = (measured.received_ns - measured.intended_ns) / 1e6
    assert cell.distribution.n == len(latency_ms) == 5_000
    of_trials = np.array([[t.median, t.p99] for t in cell.trials])
    middle, slow = np.exp(np.log(of_trials[:, 0]).mean()), latency_ms.quantile(0.99)
    assert cell.distribution.median == pytest.approx(middle)
    assert cell.distribution.p99 == pytest.approx(np.exp(np.log(of_trials[:, 1]).mean()))
    assert cell.distribution.p99 == pytest.approx(slow, rel=0.05)
    assert cell.distribution.pooled == ()
    assert cell.distribution.sd == pytest.approx(latency_ms.std())
    assert cell.distribution.maximum == pytest.approx(latency_ms.max())
    assert cell.distribution.p99_to_p50 == pytest.approx(cell.distribution.p99 / middle)
    assert cell.sizes.body == (28.0, 28.0)
    assert cell.sizes.wire == (88.0, 88.0)
    assert cell.sizes.packets == (1.0, 1.0)


def test_warm_up_is_in_no_latency_and_failed_requests_stand_behind_all():
    def spoil(draft):
        rows = draft.columns
        rows["received_ns"][rows["phase"] == 0] += 500 * MS
        rows["status"][-3:] = 4

    cell = summarise(a_run(spoil=spoil)).cells[0]
    assert cell.distribution.n == 5 * 997
    assert cell.counts.errors == {"timeout": 15}
    assert cell.counts.requests == 5_000
    assert cell.distribution.failed == 15
    assert cell.distribution.maximum is None
    assert "maximum" in cell.distribution.censored
    assert cell.details.replies.maximum < 500


def test_an_open_loop_counts_from_the_intended_time():
    def spoil(draft):
        draft.columns["intended_ns"] = draft.columns["sent_ns"] - 5 * MS

    load = p.Load(concurrency=64, requests=1000, rate_per_s=500.0)
    assert summarise(a_run(load=load, spoil=spoil)).cells[0].distribution.minimum > 5


def test_stacks_that_do_not_differ_are_called_a_tie_where_the_interval_lies_within_the_margin():
    equal = {"rest": 200.0, "grpc": 200.0}
    summary = summarise(a_run(base_us=equal, between=0.01))
    assert {c.standing for c in summary.comparisons if c.statistic == "median"} == {"tie"}
    noisy = summarise(a_run(base_us=equal, between=0.05))
    assert {c.standing for c in noisy.comparisons if c.statistic == "median"} == {"not resolved"}


@pytest.mark.parametrize(("matters", "standing"), [(0.05, "not resolved"), (0.10, "tie"), (0.02, "not resolved")])
def test_what_matters_decides_over_a_tie(matters, standing):
    plan = replace(a_plan(), matters=matters)
    summary = summarise(a_run(plan, base_us={"rest": 200.0, "grpc": 200.0}, between=0.05))
    assert {c.standing for c in summary.comparisons if c.statistic == "median"} == {standing}
    assert summary.matters == summary.to_dict()["matters"] == matters


def test_blocks_that_differ_too_much_give_no_tie_and_say_what_is_open():
    summary = summarise(a_run(base_us={"rest": 200.0, "grpc": 200.0}, between=0.4, blocks=3, seed=2))
    medians = [c for c in summary.comparisons if c.statistic == "median"]
    assert all(c.interval[0] <= 1 <= c.interval[1] for c in medians)
    assert {c.standing for c in medians} == {"not resolved"}


def test_a_difference_inside_the_envelope_of_the_control_is_not_resolved():
    def spoil(draft):
        """Whichever of the twins comes second is 10 % slower, every time; the other stack differs by 5 %."""
        if "-aa" in draft.cell.stack:
            longer(draft, 30 * US)

    run = a_run(controls=1, base_us={"rest": 300.0, "grpc": 315.0}, between=0.001, spoil=spoil)
    grpc = next(c for c in summarise(run).comparisons if c.stack == "grpc-thin" and c.statistic == "median")
    assert not grpc.interval[0] <= 1 <= grpc.interval[1]
    assert grpc.standing == "not resolved"
    assert grpc.reason.kind is ReasonKind.CONTROL
    assert 0.09 < grpc.reason.numbers["difference"] < 0.2


def test_a_stack_with_another_policy_is_compared_and_the_group_says_so():
    plan = a_plan()
    flask = replace(plan.cells[1].having(connection="per-request"), id="grpc-thin__add__local__per-request__c1")
    trials = tuple(replace(t, cell=flask.id) if t.cell == plan.cells[1].id else t for t in plan.trials)
    plan = replace(plan, cells=(plan.cells[0], flask), trials=trials)
    groups = {c.group for c in summarise(a_run(plan)).comparisons}
    assert groups == {"add, local, per-request against reuse, 1,000 requests, 1 in flight"}


def test_several_requesters_of_one_trial_are_one_trial():
    run = a_run()
    doubled = tuple(
        replace(t, requesters=(t.requesters[0], replace(t.requesters[0], host="second"))) for t in run.stored.trials
    )
    run.stored = replace(run.stored, trials=doubled)
    one, two = summarise(a_run()).cells[0], summarise(run).cells[0]
    assert two.distribution.n == 2 * one.distribution.n
    assert len(two.trials) == len(one.trials)
    assert two.throughput_per_s == pytest.approx(2 * one.throughput_per_s)


def test_throughput_leaves_out_what_the_requester_did_between_requests():
    def with_pauses(share: float):
        run = a_run()
        run.stored = replace(
            run.stored,
            trials=tuple(
                replace(
                    t,
                    requesters=tuple(
                        replace(r, done=replace(r.done, paused_s=share * _span_s(run.files[r.samples])))
                        for r in t.requesters
                    ),
                )
                for t in run.stored.trials
            ),
        )
        return summarise(run).cells[0].throughput_per_s

    assert with_pauses(0.2) == pytest.approx(with_pauses(0.0) / 0.8)


def _span_s(columns) -> float:
    measured = columns["phase"] == 1
    return float(columns["received_ns"][measured].max() - columns["sent_ns"][measured].min()) / 1e9


def test_a_folder_on_disk_gives_the_same_summary(tmp_path, summary):
    folder = RunFolder.open(write_run(a_run(controls=1), tmp_path / "a-run"))
    again = summarise(folder)
    assert again.cells == summary.cells
    assert again.comparisons == summary.comparisons
    assert len(again.run.manifest_sha256) == 64


def test_a_trial_in_which_nothing_succeeded_leaves_an_empty_cell():
    def spoil(draft):
        if draft.cell.stack == "grpc-thin":
            draft.columns["status"][:] = 2

    summary = summarise(a_run(spoil=spoil))
    assert cell_of(summary, "grpc-thin").distribution is None
    assert cell_of(summary, "grpc-thin").counts.errors == {"refused": 5_000}


def test_a_run_without_a_finished_trial_is_refused():
    run = a_run()
    run.stored = replace(run.stored, trials=tuple(replace(t, outcome="failed") for t in run.stored.trials))
    with pytest.raises(InvalidMeasurement, match="no finished trial") as refused:
        summarise(run)
    assert "--resume" not in refused.value.hint
    run.stored = replace(run.stored, state="interrupted")
    with pytest.raises(InvalidMeasurement) as refused:
        summarise(run)
    assert "--resume" in refused.value.hint


def test_a_run_that_goes_on_is_not_judged():
    run = a_run()
    run.stored = replace(run.stored, state="running", ended_at=None)
    with pytest.raises(UsageError, match="is still in progress in another process"):
        summarise(run)


def test_latencies_of_nothing_are_no_traceback():
    def spoil(draft):
        draft.columns["received_ns"] = draft.columns["sent_ns"].copy()
        draft.columns["intended_ns"] = draft.columns["sent_ns"].copy()

    summary = summarise(a_run(spoil=spoil))
    assert np.isfinite(json.loads(summary.to_json())["cells"][0]["distribution"]["mean"])


def test_throughput_pools_the_trials_as_the_mean_does():
    """One trial of five is ten times slower; with one in flight, throughput times the mean latency is at most 1."""

    def spoil(draft):
        if draft.block == 0:
            rows = draft.columns
            first = rows["sent_ns"].min()
            for name in ("intended_ns", "sent_ns", "received_ns"):
                rows[name] = first + (rows[name] - first) * 10

    for cell in summarise(a_run(spoil=spoil)).cells:
        windows = [trial.n / trial.throughput_per_s for trial in cell.trials]
        assert cell.throughput_per_s == pytest.approx(sum(t.n for t in cell.trials) / sum(windows))
        assert cell.throughput_per_s * cell.distribution.mean / 1000 < 1.05


def test_a_trial_without_a_right_reply_counts_with_its_window():
    def spoil(draft):
        if draft.cell.stack == "grpc-thin" and draft.block == 0:
            draft.columns["status"][:] = 2

    cell = cell_of(summarise(a_run(spoil=spoil)), "grpc-thin")
    assert cell.throughput_per_s == pytest.approx(0.8 * cell.trials[1].throughput_per_s, rel=0.05)
