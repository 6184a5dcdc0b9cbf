"""Which cells are beyond a default of common libraries, and which are sealed by the seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.experiment.plan.estimate import round_trip_s
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.schedule import Member, by_series
from orchestrator.shapes import decode

MAP = """\
name: map
question: Which is ahead, and where?
provider: lab
machine: lab
distance: {rtt: [1ms, 10ms, 30ms, 80ms], rate: 100 Mbit/s}
stacks: [rest, grpc]
connection: [reuse, per-request]
operations:
  - echo: {bytes: [100 B, 10 kB, 300 kB]}
predict: {hold_out: 20%}
repeats: 3
seed: 7
"""


def planned(tmp_path: Path, text: str = MAP, overrides: Sequence[str] = ()) -> Plan:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    return make_plan(path, overrides)


def series_of(plan: Plan) -> dict[str, list[Member]]:
    rtts_s = {placement.id: round_trip_s(placement) for placement in plan.placements}
    return by_series(plan.cells, plan.stacks, plan.operations, plan.placements, rtts_s)


def test_the_farthest_distance_with_the_largest_payload_is_sealed_in_every_series(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    every = series_of(plan)
    assert len(every) == 4
    for members in every.values():
        corner = max(members, key=lambda m: (m.rtt_s, m.size))
        assert corner.cell.id in plan.sealed
        assert sum(m.cell.id in plan.sealed for m in members) == 2  # of twelve
    assert plan.hold_out == 0.2


def test_what_stays_can_be_fitted_whatever_the_seed_and_the_share(tmp_path: Path) -> None:
    for seed in range(20):
        plan = planned(tmp_path, overrides=(f"seed={seed}", "predict.hold_out=50%"))
        for members in series_of(plan).values():
            kept = [m for m in members if m.cell.id not in plan.sealed]
            assert all(sum(m.size == size for m in kept) >= 2 for size in (100, 10_000, 300_000))
            assert len({m.rtt_s for m in kept if m.size == 100}) >= 3
            assert all(any(m.size == size and m.rtt_s > 0.02 for m in kept) for size in (100, 10_000, 300_000))


def test_the_seed_chooses_and_the_choice_is_in_the_hash(tmp_path: Path) -> None:
    one, again, other = (planned(tmp_path, overrides=(f"seed={seed}",)) for seed in (1, 1, 2))
    assert one.sealed == again.sealed
    assert one.id == again.id
    assert set(one.sealed) != set(other.sealed)
    changed = decode(Plan, {**one.to_dict(), "sealed": list(other.sealed)})
    assert changed.digest() != one.digest()
