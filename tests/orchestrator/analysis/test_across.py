"""Two runs compared: what changed, what is noise, and what cannot be compared."""

from dataclasses import replace

import pytest

from orchestrator.analysis.across import compare_runs, compare_within, require_no_regression
from orchestrator.analysis.summarise import summarise
from orchestrator.errors import Regression, UsageError
from orchestrator.experiment import plan as p
from tests.support.runs import US, a_run


def summary(run_id="new", **knobs):
    return replace(summarise(a_run(**knobs)), run_id=run_id)


@pytest.fixture(scope="module")
def old():
    return summary("old", seed=1)


def changes(comparison):
    return {row.cell: row.change for row in comparison.rows}


def test_a_stack_that_got_slower_regressed_and_the_other_did_not(old):
    def spoil(draft):
        if draft.cell.stack == "grpc-thin":
            draft.columns["received_ns"] += 40 * US

    found = compare_runs(summary(seed=2, spoil=spoil), old, "median")
    assert changes(found) == {"rest-thin.add.local": "within noise", "grpc-thin.add.local": "regressed"}
    slower = next(row for row in found.rows if row.change == "regressed")
    assert slower.ratio == pytest.approx(1.2, abs=0.03)
    assert slower.interval[0] > 1


def test_a_stack_that_got_quicker_improved(old):
    found = compare_runs(summary(seed=2, base_us={"grpc": 150.0}), old, "median")
    assert changes(found)["grpc-thin.add.local"] == "improved"


@pytest.mark.parametrize("statistic", ["median", "p99", "throughput"])
def test_the_same_thing_twice_is_within_noise(old, statistic):
    assert set(changes(compare_runs(summary(seed=3), old, statistic)).values()) == {"within noise"}


def test_two_trials_cannot_tell(old):
    found = compare_runs(summary(blocks=2), old, "median")
    assert set(changes(found).values()) == {"cannot tell"}
    assert "2 and 5 trials" in found.rows[0].why


def test_a_regression_beyond_the_margin_is_an_error_and_one_within_it_is_not(old):
    found = compare_runs(summary(seed=2, base_us={"grpc": 220.0}), old, "median")
    assert changes(found)["grpc-thin.add.local"] == "regressed"
    with pytest.raises(Regression, match="grpc"):
        require_no_regression(found, 0.05)
    require_no_regression(found, 0.20)


def test_what_cannot_be_told_is_no_regression(old):
    require_no_regression(compare_runs(summary(blocks=2, base_us={"grpc": 400.0}), old, "median"), 0.05)


def with_conditions(run, **changed):
    return replace(run, conditions=tuple((k, changed.get(k, v)) for k, v in run.conditions))


def test_another_cpu_is_refused_with_the_reason(old):
    with pytest.raises(UsageError, match="CPU: Another 9000 against Synthetic 3000"):
        compare_runs(with_conditions(summary(), CPU="Another 9000"), old, "median")


def test_another_payload_under_the_same_name_is_refused(old):
    bigger = p.Operation(id="add", name="add", label="add", payload={"kind": "bytes", "size": 9})
    with pytest.raises(UsageError, match="operation add: payload differs"):
        compare_runs(summary(operation=bigger), old, "median")


def test_another_distance_under_the_same_name_is_refused():
    def placed(rtt_ms):
        link = p.Link(rtt_ms=rtt_ms)
        return [p.Placement(id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=link)]

    with pytest.raises(UsageError, match="placement far: link differs"):
        compare_runs(summary(placements=placed(30.0)), summary(placements=placed(60.0)), "median")


def test_nothing_in_common_is_refused(old):
    with pytest.raises(UsageError, match="no cell in common"):
        compare_runs(summary(stacks=("avro", "cbor")), old, "median")


def test_versions_that_differ_are_listed_and_no_obstacle(old):
    def spoil(draft):
        draft.done["versions"] = {"thin": "2.0"}

    found = compare_runs(summary(seed=2, spoil=spoil), old, "median")
    assert "rest (thin): thin 1.0 -> 2.0" in found.differences


def test_cells_of_one_run_only_are_listed(old):
    found = compare_runs(summary(stacks=("rest", "avro")), old, "median")
    assert "only in new: avro-thin.add.local" in found.differences
    assert "only in old: grpc-thin.add.local" in found.differences


def test_a_runs_own_stacks_are_compared_with_its_reference(old):
    found = compare_within(old, "median")
    assert changes(found) == {"grpc-thin.add.local": "improved"}


def test_a_single_stack_has_nothing_to_be_compared_with():
    with pytest.raises(UsageError, match="single stack"):
        compare_within(summary(stacks=("rest",)), "median")
