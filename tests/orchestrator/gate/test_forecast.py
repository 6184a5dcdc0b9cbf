"""What recorded gates say of the next one: how many blocks it takes, and whether there is time for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.gate import arms
from orchestrator.gate.forecast import forecast, gates, record
from orchestrator.gate.words import forecast_line
from tests.support.gates import repository


def a_gate(spread: float | None, name: str = "shop") -> dict[str, object]:
    return {"name": name, "spreads": {"order": spread}, "block_seconds": {"order": 5.0}}


def test_gates_of_the_experiment_are_read_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "state" / "gates.jsonl"
    assert gates(path, "shop") == []
    for gate in (a_gate(0.01), a_gate(0.02, "other"), a_gate(0.03)):
        record(path, gate)
    assert [gate["spreads"]["order"] for gate in gates(path, "shop")] == [0.01, 0.03]


@pytest.mark.parametrize(
    ("seconds", "earlier", "spread", "can_decide"),
    [
        (60, [a_gate(0.01), a_gate(0.012), a_gate(0.5)], 0.012, True),
        (60, [a_gate(0.2)], 0.2, False),
        (6000, [a_gate(None)], 0.05, True),
    ],
)
def test_the_spread_of_earlier_gates_says_whether_there_is_time(
    tmp_path: Path, seconds: float, earlier: list[dict[str, object]], spread: float, can_decide: bool
) -> None:
    file = repository(tmp_path)
    plan = arms.read(file, (), arms.without_git(file.parent, file.parent)).to_measure(0, 0.05, seconds)
    expected = forecast("order", plan, seconds, earlier)
    assert (expected.spread, expected.block_s, expected.room) == (spread, 5.0, int(seconds / 5))
    assert expected.can_decide == can_decide
    assert ("undecided is likely" in forecast_line(expected, 0.05)) != can_decide
