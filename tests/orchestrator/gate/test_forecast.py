"""How many blocks a gate takes, and whether there is time for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.gate import arms
from orchestrator.gate.forecast import forecast
from orchestrator.gate.words import forecast_line
from tests.support.gates import repository


@pytest.mark.parametrize(("seconds", "can_decide"), [(60, False), (6000, True)])
def test_a_forecast_says_whether_there_is_time(tmp_path: Path, seconds: float, can_decide: bool) -> None:
    file = repository(tmp_path)
    plan = arms.read(file, (), arms.without_git(file.parent, file.parent)).to_measure(0, 0.05, seconds)
    expected = forecast("order", plan, seconds)
    assert expected.room == int(seconds / expected.block_s)
    assert expected.can_decide == can_decide
    assert ("undecided is likely" in forecast_line(expected, 0.05)) != can_decide
