"""What requests cost: exact on made-up trials, with intervals, comparisons and prices."""

from __future__ import annotations

import pytest

from orchestrator.findings.trial_values import COSTS
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import a_run

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
        known = {
            "responder_cpu": 0.4 * (1 + 0.01 * block),
            "requester_cpu": 0.3,
            "responder_memory": 100_000_000,
            "wire_bytes_sent": 90_000,
            "wire_bytes_received": 110_000,
            "packets_sent": 1000,
            "packets_received": 2000,
            "wire_bytes": 200_000,
            "packets": 3000,
        }
        assert {name: trial.values[name] for name in known} == pytest.approx(known)
    assert rest.means["responder_cpu"].value == pytest.approx(2 * grpc.means["responder_cpu"].value)


def test_a_cells_cost_has_the_interval_of_its_trials():
    (rest, _) = summarise(a_run(spoil=with_known_costs)).cells
    mean = intervals.of_trials([0.4 * (1 + 0.01 * block) for block in range(5)])
    assert rest.means["responder_cpu"].value == pytest.approx(mean.ratio)
    assert rest.means["responder_cpu"].interval == pytest.approx(mean.interval())


def test_costs_are_compared_block_by_block_and_judged_as_times_are():
    summary = summarise(a_run(spoil=with_known_costs))
    by = {c.statistic: c for c in summary.costs}
    assert list(by) == list(COSTS)
    cpu = by["responder_cpu"]
    assert (cpu.standing, cpu.reference_label, cpu.stack_label) == ("less", "rest (thin)", "grpc (thin)")
    assert cpu.by_block == pytest.approx([0.5] * 5)
    assert cpu.interval == pytest.approx((0.5, 0.5))
    assert by["requester_cpu"].standing == by["wire_bytes"].standing == by["packets"].standing == "tie"
    assert by["responder_memory"].standing == "tie"
    assert by["responder_memory"].reason is None
    assert all(c.statistic in ("median", "p99", "throughput") for c in summary.comparisons)


def test_what_was_counted_in_some_blocks_only_is_not_compared():
    def spoil(draft):
        with_known_costs(draft)
        if draft.block == 2 and draft.cell.stack.startswith("grpc"):
            draft.stats["cpu_s"] = None

    summary = summarise(a_run(spoil=spoil))
    cpu = next(c for c in summary.costs if c.statistic == "responder_cpu")
    assert (cpu.standing, cpu.ratio) == ("cannot tell", None)
    assert (cpu.reason.kind, cpu.reason.numbers) == (ReasonKind.MISSING, {"blocks": 1, "of": 5})
    assert "responder_cpu" not in summary.cells[1].means
    assert "responder_cpu" in summary.cells[0].means
