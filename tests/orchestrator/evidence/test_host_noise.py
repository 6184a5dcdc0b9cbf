"""What others took of a trial: what the machine type intends is not in it, what runs beside a host is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from orchestrator.checks.base import Finding
from orchestrator.checks.latency import noise
from orchestrator.evidence.collect import collect
from orchestrator.evidence.host_noise import held_up, noises
from orchestrator.evidence.run_evidence import CellEvidence
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.check_result import CheckResult
from orchestrator.results.turn_times import TurnTime
from tests.support.lines import host_counters
from tests.support.made_up import WEST
from tests.support.runs import Draft, S, a_plan, a_run

OWN_S = 1.0  # of each end, in ten seconds


def quiet(draft: Draft, *, beside_s: float = 0.0, **of_host: int) -> None:
    """Ten seconds in which each end used one of CPU time, and others so much beside them."""
    draft.done["cpu_s"] = OWN_S
    for stats, cpu_s in ((draft.stats_before, 0.0), (draft.stats_warm, 0.0), (draft.stats, OWN_S)):
        stats["cpu_s"] = cpu_s
    busy = round(100 * (2 * OWN_S + beside_s)) + of_host.get("steal", 0)
    draft.done["host_before"] = host_counters(0)
    draft.done["host_after"] = host_counters(10 * S, busy=busy, **of_host)
    draft.stats_before["host"] = draft.stats_warm["host"] = host_counters(0)
    draft.stats["host"] = host_counters(10 * S, **of_host)


def cell_of(
    spoil: Callable[[Draft], None],
    *,
    provider: str = "lab",
    machine: str | None = "f1-micro",
    placement: p.Placement = WEST,
    beside_s: float | None = None,
    stack: str = "rest",
) -> CellEvidence:
    """One cell of a run; `beside_s` is what orch and its link's program say that they used."""
    plan = replace(a_plan(stacks=[stack], placements=[placement]), provider=provider, machine=machine)
    run = a_run(plan, spoil=spoil)
    run.stored = replace(run.stored, trials=tuple(replace(t, beside_cpu_s=beside_s) for t in run.stored.trials))
    return collect(run, {}).cells[0]


def judged(cell: CellEvidence) -> CheckResult | Finding:
    result = noise.judge(cell)
    assert result is not None
    return result


@pytest.mark.parametrize("machine", ["f1-micro", "e2-small", "e2-standard-2"])
def test_throttling_by_the_quota_that_a_machine_type_has_in_the_lab_is_no_noise(machine: str) -> None:
    cell = cell_of(lambda draft: quiet(draft, throttled=150), machine=machine)
    assert judged(cell).verdict == "pass"
    assert [held_up(cell, trial) for trial in cell.trials] == [0.0] * 5
    assert max(seen.throttled or 0.0 for seen in noises(cell, cell.trials[0])) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("machine", "busy", "verdict", "taken"),
    [
        ("f1-micro", 40, "pass", 0.0),  # it has more than its fifth of a core
        ("f1-micro", 10, "warn", 0.1),  # half of it
        ("t2d-standard-1", 40, "warn", 0.3),  # a core of its own
    ],
)
def test_in_a_cloud_steal_counts_below_the_share_of_a_shared_core(
    machine: str, busy: int, verdict: str, taken: float
) -> None:
    def spoil(draft: Draft) -> None:
        quiet(draft)
        draft.done["cpu_s"] = busy / 10
        draft.done["host_after"] = host_counters(10 * S, busy=10 * busy + 300, steal=300)

    cell = cell_of(spoil, provider="gcp", machine=machine)
    assert judged(cell).verdict == verdict
    without_ping = replace(cell.trials[0], readings=())
    assert held_up(cell, without_ping) == pytest.approx(taken)
    assert held_up(cell, cell.trials[0]) <= 0.01  # its requests were on the network all the time: nobody can take that


@pytest.mark.parametrize(
    ("stolen_s", "taken"),
    [
        ([0.0, 0.01, 0.01, 0.01], 0.0),  # the robbed ones are left out
        ([0.01, 0.01, 0.01, 0.01], 0.2),  # none is left: they count, and the interval is widened
        ([0.0, 0.0, 0.0, 0.0], 0.0),
    ],
)
def test_in_turns_what_the_turns_that_count_lost_is_held_up(stolen_s: list[float], taken: float) -> None:
    cell = cell_of(quiet, provider="local", machine=None)
    turns = tuple(
        TurnTime(requests=9, warm_up=0, begin_ns=place * S, end_ns=place * S + S // 20, cpu_s=0.0, stolen_s=stolen)
        for place, stolen in enumerate(stolen_s)
    )
    record = replace(cell.trials[0].record, turns=turns, stolen_beside=0.0)
    trial = replace(cell.trials[0], record=record)
    assert held_up(cell, trial) == pytest.approx(taken)
    (seen,) = noises(cell, trial)
    assert seen.steal == pytest.approx(taken)


@pytest.mark.parametrize(("stack", "trips"), [("rest", 2), ("grpc", 3)])
def test_a_new_connection_is_on_the_network_for_its_own_round_trips_too(stack: str, trips: int) -> None:
    kept = cell_of(lambda draft: quiet(draft, steal=900), stack=stack)
    cell = replace(kept, cell=replace(kept.cell, factors={**kept.cell.factors, "connection": "per-request"}))
    (ping,) = [reading.minimum_ns for reading in cell.trials[0].readings if reading.record.kind == "ping"][:1]
    window_s = 10 * cell.trials[0].totals.ok * ping / 1e9  # a tenth of it for a round trip of each request
    trial = replace(cell.trials[0], totals=replace(cell.trials[0].totals, window_s=window_s))
    assert held_up(cell, trial) == pytest.approx(1 - trips / 10, rel=1e-4)


@pytest.mark.parametrize(
    ("seconds", "verdict", "foreign"), [(5.0, "pass", 0.0), (2.0, "warn", 0.3), (None, "warn", 0.5)]
)
def test_the_program_that_emulates_the_distance_is_no_neighbour(
    seconds: float | None, verdict: str, foreign: float
) -> None:
    result = judged(cell_of(lambda draft: quiet(draft, beside_s=5.0), beside_s=seconds))
    assert result.verdict == verdict
    assert result.evidence["foreign"] == pytest.approx(foreign)
    assert result.evidence["in_a_third"]["foreign"] == pytest.approx(foreign)
