"""What requests cost: exact on made-up trials, with intervals, comparisons and prices."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.evidence import costing
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.cost import COSTS, CellCost
from orchestrator.report.render import render
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise, summary_of_json
from tests.support.judged import of
from tests.support.runs import a_plan, a_run

CPU_US = {"rest": 400.0, "grpc": 200.0}  # of the responder, for each request


def with_known_costs(draft) -> None:
    """The responder uses 0.4 s (grpc: 0.2 s) per 1,000 measured requests, a little more in later blocks; warm-up 9 s."""
    protocol = draft.cell.stack.split("-")[0]
    n = draft.done["requests"]
    draft.stats_before["cpu_s"] = 0.5
    draft.stats_warm["cpu_s"] = 9.5
    draft.stats["cpu_s"] = 9.5 + CPU_US[protocol] / 1e6 * n * (1 + 0.01 * draft.block)
    draft.done["cpu_s"] = 0.3 * n / 1000
    draft.stats["memory_bytes"] = 100_000_000 if protocol == "rest" else 101_000_000
    draft.done["wire"] |= {
        "bytes_sent": 90 * n,
        "bytes_received": 110 * n,
        "segments_sent": n,
        "segments_received": 2 * n,
    }


def test_a_trials_cost_is_per_thousand_requests_and_without_warm_up():
    (rest, grpc) = summarise(a_run(spoil=with_known_costs)).cells
    for block, trial in enumerate(sorted(rest.trials, key=lambda t: t.block)):
        assert trial.cost.samples == 1000
        assert trial.cost.responder_cpu == pytest.approx(0.4 * (1 + 0.01 * block))
        assert trial.cost.requester_cpu == pytest.approx(0.3)
        assert (trial.cost.responder_memory, trial.cost.responder_memory_since) == (100_000_000, "phase")
        assert (trial.cost.wire_bytes_sent, trial.cost.wire_bytes_received) == (90_000, 110_000)
        assert (trial.cost.packets_sent, trial.cost.packets_received) == (1000, 2000)
        assert (trial.cost.wire_bytes, trial.cost.packets) == (200_000, 3000)
    assert rest.costs["responder_cpu"].value == pytest.approx(2 * grpc.costs["responder_cpu"].value)


def test_a_cells_cost_has_the_interval_of_its_trials():
    (rest, _) = summarise(a_run(spoil=with_known_costs)).cells
    mean = intervals.of_trials([0.4 * (1 + 0.01 * block) for block in range(5)])
    assert rest.costs["responder_cpu"].value == pytest.approx(mean.ratio)
    assert rest.costs["responder_cpu"].interval == pytest.approx(mean.interval())
    assert not any(cost.is_whole_life for cost in rest.costs.values())


def test_costs_are_compared_block_by_block_and_judged_as_times_are():
    found = summarise(a_run(spoil=with_known_costs))
    by = {c.statistic: c for c in found.costs}
    assert list(by) == list(COSTS)
    cpu = by["responder_cpu"]
    assert (cpu.standing, cpu.reference_label, cpu.stack_label) == ("less", "rest (thin)", "grpc (thin)")
    assert cpu.by_block == pytest.approx([0.5] * 5)
    assert cpu.interval == pytest.approx((0.5, 0.5))
    assert by["requester_cpu"].standing == by["wire_bytes"].standing == by["packets"].standing == "tie"
    assert by["responder_memory"].standing == "tie"
    assert by["responder_memory"].reason is None
    assert all(c.statistic in ("median", "p99", "throughput") for c in found.comparisons)


def test_more_is_said_of_the_costlier_one():
    plan = a_plan(stacks=("grpc", "rest"))
    cpu = next(c for c in summarise(a_run(plan, spoil=with_known_costs)).costs if c.statistic == "responder_cpu")
    assert cpu.standing == "more"
    assert cpu.ratio == pytest.approx(2.0)


def test_what_was_counted_in_some_blocks_only_is_not_compared():
    def spoil(draft):
        with_known_costs(draft)
        if draft.block == 2 and draft.cell.stack.startswith("grpc"):
            draft.stats["cpu_s"] = None

    summary = summarise(a_run(spoil=spoil))
    cpu = next(c for c in summary.costs if c.statistic == "responder_cpu")
    assert (cpu.standing, cpu.ratio) == ("cannot tell", None)
    assert (cpu.reason.kind, cpu.reason.numbers) == (ReasonKind.MISSING, {"blocks": 1, "of": 5})
    assert "responder_cpu" not in summary.cells[1].costs
    assert "responder_cpu" in summary.cells[0].costs


@pytest.mark.parametrize("missing", ["stats_warm", "wire"])
def test_what_nobody_counted_is_left_out(missing):
    run = a_run(spoil=lambda draft: draft.done.update(wire=None) if missing == "wire" else None)
    if missing == "stats_warm":  # a run of an earlier version: the warm-up cannot be told from the rest
        trials = tuple(replace(trial, stats_warm=None) for trial in run.stored.trials)
        run = replace(run, stored=replace(run.stored, trials=trials))
    summary = summarise(run)
    names = {"responder_cpu", "responder_memory"} if missing == "stats_warm" else {"wire_bytes", "packets"}
    assert not names & {c.statistic for c in summary.costs}
    assert {c.statistic for c in summary.costs} == COSTS.keys() - names
    assert not any(name.startswith(tuple(names)) for cell in summary.cells for name in cell.costs)


def test_a_peak_of_the_whole_life_is_said_to_be_one():
    def spoil(draft):
        draft.done["memory_since"] = "process" if draft.block == 1 else "phase"

    summary = summarise(a_run(spoil=spoil))
    assert summary.cells[0].costs["requester_memory"].is_whole_life
    assert not summary.cells[0].costs["responder_memory"].is_whole_life
    lines = "\n".join(answer_lines(summary))
    assert "30.00 MB‡" in lines
    assert "‡: since the process began" in lines


def test_of_several_requesters_cpu_is_the_sum_and_memory_that_of_the_largest():
    def spoil(draft):
        draft.done["cpu_s"], draft.done["memory_bytes"] = 0.5, 10_000_000 * (1 + draft.requester)

    cost = summarise(a_run(requesters=2, spoil=spoil)).cells[0].trials[0].cost
    assert (cost.samples, cost.requester_cpu, cost.requester_memory) == (2000, 0.5, 20_000_000)


def test_an_invalid_cell_is_not_compared_by_cost_either():
    def spoil(draft):
        if draft.cell.stack.startswith("grpc"):
            draft.done["verified"] = 0

    assert {c.standing for c in summarise(a_run(spoil=spoil)).costs} == {"cannot tell"}


def test_terminal_json_and_report_show_costs_beside_latencies():
    summary = summarise(a_run(spoil=with_known_costs))
    lines = "\n".join(answer_lines(summary))
    assert "cost of 1,000 requests" in lines
    assert "−50 % (−50 %)" in lines
    page = render(summary)
    assert "cost of 1,000 requests" in page
    assert "−50 % (−50 %)" in page.replace(" ", " ")


def test_a_summary_with_costs_survives_being_written():
    summary = summarise(a_run(spoil=with_known_costs))
    assert summary_of_json(summary.to_json()) == summary


def test_a_million_requests_on_a_priced_machine():
    zones = {"from_zone": "us-central1-a", "to_zone": "europe-west1-b"}
    far = p.Placement(id="far", name="far", kind="cross-region", **zones)
    plan = replace(a_plan(placements=[far]), provider="gcp", machine="e2-standard-2")
    costs = {
        "responder_cpu": CellCost(value=0.4, interval=(0.3, 0.5)),
        "wire_bytes_sent": CellCost(value=2.0**20, interval=None),
        "wire_bytes_received": CellCost(value=2.0**20, interval=None),
    }
    found = costing.prices(plan, far).of(costs)
    an_hour = 0.03685773 * 2 + 0.005  # of the responder's region
    assert found.keys() == {"responder_usd", "traffic_usd"}
    assert found["responder_usd"].value == pytest.approx(400 / 2 / 3600 * an_hour)
    assert found["responder_usd"].interval == pytest.approx((300 / 2 / 3600 * an_hour, 500 / 2 / 3600 * an_hour))
    assert found["traffic_usd"].value == pytest.approx(1000 * 2 / 1024 * 0.05)


def test_a_machine_that_nobody_pays_for_has_no_price():
    plan = a_plan()
    assert costing.prices(plan, plan.placements[0]) is None


@pytest.mark.parametrize(
    ("own_s", "counted_s", "verdict"), [(0.30, 0.31, "pass"), (0.30, 0.20, "warn"), (0.30, 9.0, "pass")]
)
def test_cpu_time_is_held_against_the_cgroups(own_s, counted_s, verdict):
    def spoil(draft):
        draft.done["cpu_s"] = own_s
        draft.done["host_after"]["cgroup_cpu_us"] = int(counted_s * 1e6)
        draft.stats["host"]["cgroup_cpu_us"] = draft.stats_warm["host"]["cgroup_cpu_us"]
        draft.stats["cpu_s"] = draft.stats_warm["cpu_s"]

    for result in of(a_run(spoil=spoil), "CPU time"):
        assert result.verdict == verdict
        evidence = result.evidence
        assert (evidence["end"], evidence["counted_by"], evidence["process_s"]) == ("requester", "cgroup", own_s)
        assert evidence["counted_s"] == pytest.approx(counted_s)


def test_cpu_time_is_held_against_the_hosts_where_there_is_no_cgroup():
    def spoil(draft):
        for host in (draft.done["host_before"], draft.done["host_after"], draft.stats["host"]):
            host["cgroup_cpu_us"] = None
        draft.done["cpu_s"] = 2.0
        draft.done["host_after"]["cpu_ticks"]["busy"] = 100

    result = of(a_run(spoil=spoil), "CPU time")[0]
    assert (result.verdict, result.evidence["counted_by"], result.evidence["counted_s"]) == ("warn", "host", 1.0)


def test_cpu_time_that_nobody_else_counts_cannot_be_told():
    def spoil(draft):
        draft.done["host_before"] = draft.done["host_after"] = None
        draft.stats["host"] = draft.stats_warm["host"] = None

    assert {result.verdict for result in of(a_run(spoil=spoil), "CPU time")} == {"cannot tell"}


@pytest.mark.parametrize("cpu_s", [5e-324, 1e300])
def test_a_time_at_the_end_of_all_numbers_makes_no_interval_that_is_none(cpu_s: float) -> None:
    """In a run from elsewhere: no verb may end in a fault of its own."""

    def spoil(draft) -> None:
        if draft.block == 1:
            draft.done["cpu_s"] = cpu_s

    summary = summarise(a_run(spoil=spoil))
    assert json.dumps(summary.to_dict(), allow_nan=False)
    assert render(summary)
