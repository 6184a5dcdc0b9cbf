"""Two runs compared: what changed, what is not resolved, and what cannot be compared."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.between_runs.environments import are_alike
from orchestrator.between_runs.measured_runs import EqualRun
from orchestrator.errors import UsageError
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.condition import Condition
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.results.manifest import ReplyDifference
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from orchestrator.wording.gate import judge
from tests.support.findings import counted, measured
from tests.support.runs import S, a_run, host_counters


def summary(run_id="new", **knobs):
    return measured(summarise(a_run(**knobs)), id=run_id)


@pytest.fixture(scope="module")
def old():
    return summary("old", seed=1)


def changes(comparison):
    return {row.cell: row.verdict for row in comparison.rows}


def row_of(comparison, label):
    return next(row for row in comparison.rows if row.label.startswith(label))


def test_a_stack_that_got_slower_regressed_and_the_other_did_not(old):
    comparison = compare_runs(summary(seed=2, base_us={"grpc": 300.0}), old, "median")
    assert changes(comparison) == {
        "rest-thin__add__local__reuse__c1": "not resolved",
        "grpc-thin__add__local__reuse__c1": "regressed",
    }
    slower = row_of(comparison, "grpc")
    assert slower.ratio == pytest.approx(1.5, abs=0.05)
    assert slower.interval[0] > 1
    assert slower.value / slower.reference_value == pytest.approx(slower.ratio)


def test_fewer_requests_per_second_is_slower(old):
    row = row_of(compare_runs(summary(seed=2, base_us={"grpc": 300.0}), old, "throughput"), "grpc")
    assert row.verdict == "regressed"
    assert row.ratio > 1 > row.value / row.reference_value


def test_equal_is_said_only_where_the_whole_interval_lies_within_what_matters(old):
    comparison = compare_runs(replace(summary(seed=3), matters=0.5), replace(old, matters=0.5), "median")
    assert set(changes(comparison).values()) == {"unchanged"}
    assert comparison.rows[0].reason is None


def test_two_trials_cannot_tell(old):
    comparison = compare_runs(summary(blocks=2), old, "median")
    assert set(changes(comparison).values()) == {"cannot tell"}
    assert comparison.rows[0].reason.numbers == {"blocks": 2, "needed": 3}


# What stands beside the ratio: floors, checks, errors, conditions.


def moved_floors(run, ratio, kinds=("ping", "tcp")):
    floors = tuple(
        replace(f, medians=tuple(m * ratio for m in f.medians)) if f.kind in kinds else f for f in run.floors
    )
    return replace(run, floors=floors)


def test_a_change_that_the_floor_shares_is_not_resolved(old):
    slower = summary(seed=2, base_us={"grpc": 300.0})
    assert row_of(compare_runs(slower, old, "median"), "grpc").verdict == "regressed"
    row = row_of(compare_runs(moved_floors(slower, 1.22), old, "median"), "grpc")
    assert row.verdict == "not resolved"
    assert row.reason.kind is ReasonKind.FLOOR_MOVED
    assert any("tcp floor itself moved" in note for note in row.notes)


@pytest.mark.parametrize("kind", ["ping", "tcp"])
def test_a_floor_far_from_where_it_was_forbids_a_verdict(old, kind):
    row = row_of(
        compare_runs(moved_floors(summary(seed=2, base_us={"grpc": 900.0}), 1.6, (kind,)), old, "median"), "grpc"
    )
    assert row.verdict == "cannot tell"
    assert any(f"conditions differ: the {kind} floor itself moved" in doubt for doubt in row.doubts)


def test_a_median_beyond_the_time_out_is_neither_left_out_nor_a_ratio(old):
    def censored(cell):
        last = replace(cell.trials[-1], median=None, censored=("median", "p99"), errors=600)
        return counted(replace(cell, trials=(*cell.trials[:-1], last)), errors={"timeout": 600})

    new = summary(seed=2)
    row = compare_runs(replace(new, cells=tuple(map(censored, new.cells))), old, "median").rows[0]
    assert (row.verdict, row.ratio) == ("cannot tell", None)
    assert row.reason.kind is ReasonKind.CENSORED


def equal_to(run, rng, cells):
    """Another run of the same: 3 % between runs, 2 % between trials, its floors looked at anew."""

    def drawn(cell):
        mean = np.log(cell.floors.tcp * 10) + rng.normal(0, 0.03)
        return [replace(t, median=float(np.exp(rng.normal(mean, 0.02)))) for t in cell.trials]

    twelve = tuple(replace(c, trials=tuple(drawn(c))) for c in run.cells[:cells])
    floors = tuple(
        replace(f, medians=tuple(np.exp(rng.normal(np.log(np.mean(f.medians)), 0.01, len(f.medians)))))
        for f in run.floors
    )
    return replace(run, cells=twelve, floors=floors)


def test_of_equal_runs_hardly_any_is_called_changed():
    places = [p.Placement(id=f"p{i}", name=f"p{i}", kind="local") for i in range(3)]
    run = summary("old", placements=places, stacks=("rest", "grpc", "websocket", "graphql"))
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(60):
        history = [
            EqualRun(run_id=f"h{i}", means={(c.id, "median"): rng.normal(0, 0.031) for c in run.cells})
            for i in range(10)
        ]
        new, before = measured(equal_to(run, rng, 12), id="new"), equal_to(run, rng, 12)
        rows = compare_runs(new, before, "median", history).rows
        called += bool({row.verdict for row in rows} & {"improved", "regressed"})
    assert called <= 7  # 3 are promised


def with_check(run, verdict, cell=None):
    check = CheckResult(
        name="floor",
        verdict=verdict,
        severity="fatal",
        cell=cell,
        evidence={},
        points=(),
    )
    return replace(run, checks=(*run.checks, check))


@pytest.mark.parametrize("base_us", [130.0, 300.0])
@pytest.mark.parametrize("spoilt", ["new", "old"])
def test_a_failed_check_in_either_run_forbids_any_verdict(old, base_us, spoilt):
    new = summary(seed=2, base_us={"grpc": base_us})
    pair = (with_check(new, "fail"), old) if spoilt == "new" else (new, with_check(old, "fail"))
    row = row_of(compare_runs(*pair, "median"), "grpc")
    assert row.verdict == "cannot tell"
    assert f"in {spoilt} a check failed: floor" in row.doubts
    assert row.interval is not None


def busy(share):
    """Other processes use so much of a core in every trial."""

    def spoil(draft):
        span_s = draft.done["measured_s"]
        own_s = draft.done["cpu_s"] + draft.stats["cpu_s"] - draft.stats_before["cpu_s"]
        draft.done["host_after"] = host_counters(int(span_s * S), busy=int(100 * (share * span_s + own_s)))

    return spoil


@pytest.mark.parametrize(("waited", "verdict"), [(0.9, "cannot tell"), (0.5, "regressed")])
def test_an_overloaded_machine_forbids_a_verdict_though_both_runs_had_it(waited, verdict):
    def spoil(draft):
        busy(1.2)(draft)
        draft.done["host_after"]["pressure_us"]["cpu"] = int(draft.done["measured_s"] * waited * 1e6)

    new = summary(seed=2, base_us={"grpc": 300.0}, spoil=spoil)
    row = row_of(compare_runs(new, summary("old", spoil=spoil), "median"), "grpc")
    assert row.verdict == verdict
    assert any("overloaded" in doubt for doubt in row.doubts) == (verdict == "cannot tell")


def with_conditions(run, **changed):
    return replace(run, conditions=tuple(replace(c, value=changed.get(c.kind, c.value)) for c in run.conditions))


def test_another_cpu_is_refused_with_the_reason(old):
    with pytest.raises(UsageError, match="CPU: Another 9000 against Synthetic 3000"):
        compare_runs(with_conditions(summary(), CPU="Another 9000"), old, "median")


def placed(rtt_ms):
    link = p.Link(rtt_ms=rtt_ms)
    return [p.Placement(id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=link)]


BYTES = p.Operation(id="add", name="add", label="add", payload={"kind": "bytes", "size": 9})


@pytest.mark.parametrize(
    ("mine", "theirs", "reason"),
    [
        ({"operation": BYTES}, {}, "payload kind: bytes against none; payload size: 9 against none"),
        ({"connection": "per-request"}, {}, "connection: per-request against reuse"),
        ({"load": p.Load(concurrency=4, requests=1000)}, {}, "concurrency: 4 in flight against 1 in flight"),
        ({"load": p.Load(requests=1000, rate_per_s=50.0)}, {}, r"rate: 50/s \(poisson\) against closed loop"),
        ({"clients": ("fat", "fat")}, {}, "client: fat against thin"),
        ({"placements": placed(30.0)}, {"placements": placed(60.0)}, "link rtt_ms: 30.0 against 60.0"),
    ],
)
def test_runs_without_a_cell_in_common_are_refused_and_just_the_factor_that_differs_is_named(mine, theirs, reason):
    with pytest.raises(UsageError, match=reason):
        compare_runs(summary("new", **mine), summary("old", **theirs), "median")


def test_cells_that_differ_only_in_turns_warm_up_and_duration_are_compared_with_each_other(old):
    new = summary(seed=2, warmup=200, load=p.Load(requests=2000, duration_s=60.0))
    cells = tuple(replace(c, turns=p.Turns(length_s=0.1, rounds=9), timeout_s=5.0) for c in new.plan.cells)
    comparison = compare_runs(replace(new, plan=replace(new.plan, cells=cells)), old, "median")
    assert [(row.cell, row.reference) for row in comparison.rows] == [(cell.id, cell.id) for cell in old.cells]
    assert not any("only in" in text for text in comparison.differences)


def test_a_floor_with_too_few_readings_is_not_compared(old):
    few = summary(seed=2)
    few = replace(few, floors=tuple(replace(floor, medians=floor.medians[:1]) for floor in few.floors))
    row = compare_runs(few, old, "median").rows[0]
    assert row.floors == ()
    assert any("no floor has 3 readings in both runs" in note for note in row.notes)


def test_cells_that_measure_the_same_within_a_run_are_each_compared_once():
    twice = [p.Placement(id=name, name=name, kind="local") for name in ("here", "there")]
    comparison = compare_runs(
        summary("new", placements=twice), summary("old", placements=twice[::-1], seed=2), "median"
    )
    assert [(row.cell, row.reference) for row in comparison.rows] == [
        (f"{stack}-thin__add__{name}__reuse__c1",) * 2 for name in ("here", "there") for stack in ("rest", "grpc")
    ]


def test_a_single_stack_has_nothing_to_be_compared_with():
    with pytest.raises(UsageError, match="single stack"):
        compare_within(summary(stacks=("rest",)), "median")


def test_stacks_that_answer_differently_pass_no_gate_until_they_do_the_same_work():
    run = summary()
    first, other = stacks = run.comparisons[0].reference_label, run.comparisons[0].stack_label
    unlike = ReplyDifference(name="total", row=7, rows=1, stacks=stacks, values=("70", "71"))
    differing = replace(run, findings={**run.findings, SAMENESS.name: (unlike,)})
    assert [judge(compare_within(one, "median"), 9.0).overall for one in (run, differing)] == [
        "not slower",
        "cannot tell",
    ]
    (doubt,) = compare_within(differing, "median").rows[0].doubts
    assert doubt == f"not the same work: {first} answers total with 70, {other} with 71 (row 7)"


# What the sceptic of a comparison asks: was it the same code, did it run at all, what was left out.


def with_code(run, digest):
    return replace(run, conditions=(*run.conditions, Condition("Services", digest)))


def test_other_code_of_both_ends_is_named_and_makes_runs_unequal(old):
    new = summary(seed=2)
    comparison = compare_runs(with_code(new, "SHA-256 aaa"), with_code(old, "SHA-256 bbb"), "median")
    assert any(text.startswith("the code of both ends differs") for text in comparison.differences)
    assert not are_alike(with_code(new, "SHA-256 aaa").to_dict(), with_code(old, "SHA-256 bbb").to_dict())
    assert are_alike(with_code(new, "SHA-256 aaa").to_dict(), with_code(old, "SHA-256 aaa").to_dict())


def all_failed(run, protocol):
    cells = tuple(
        counted(replace(cell, trials=(), distribution=None), failed_trials=5) if cell.protocol == protocol else cell
        for cell in run.cells
    )
    label = next(cell.labels.stack for cell in cells if cell.protocol == protocol)
    settings = {**run.settings, label: {}}
    return replace(run, cells=cells, settings=settings)


@pytest.mark.parametrize("which", ["new", "old"])
def test_a_stack_whose_trials_all_failed_is_said_to_have_failed(old, which):
    new, reference = summary(seed=2), old
    new, reference = (all_failed(new, "rest"), old) if which == "new" else (new, all_failed(old, "rest"))
    comparison = compare_runs(new, reference, "median")
    row = row_of(comparison, "rest")
    assert (row.verdict, row.ratio) == ("cannot tell", None)
    assert (row.reason.kind, row.reason.numbers) == (ReasonKind.NO_TRIAL, {"failed": 5})
    assert not any("absent" in text for text in comparison.differences)
