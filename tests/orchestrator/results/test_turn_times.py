from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.record_layout import ROW
from orchestrator.results.turn_times import TurnTime, disturbed, measured_outside

MS = 1_000_000
TURN = TurnTime(requests=90, warm_up=3, begin_ns=0, end_ns=50 * MS, cpu_s=0.02, waited_s=0.001, stolen_s=0.0)


@pytest.mark.parametrize("name", ["waited_s", "stolen_s"])
def test_a_turn_that_lost_a_tenth_more_than_the_middle_one_is_disturbed(name: str) -> None:
    middle = getattr(TURN, name)
    lost = [0.0, middle + 0.0051, middle, middle + 0.0049, middle]
    assert disturbed([replace(TURN, **{name: each}) for each in lost]) == (False, True, False, False, False)


def test_what_all_turns_lose_alike_disturbs_none() -> None:
    assert not any(disturbed([replace(TURN, waited_s=0.03, stolen_s=0.02)] * 5))


def test_what_is_not_known_disturbs_none() -> None:
    assert not any(disturbed([replace(TURN, waited_s=None, stolen_s=None)] * 3))
    assert disturbed([]) == ()


@pytest.mark.parametrize(
    ("sent_ns", "phase", "outside"),
    [(0, 1, 0), (50 * MS, 1, 0), (51 * MS, 1, 1), (-1, 1, 1), (51 * MS, 0, 0), (100 * MS, 1, 0)],
)
def test_measured_rows_outside_of_every_turn_are_counted(sent_ns: int, phase: int, outside: int) -> None:
    turns = [TURN, replace(TURN, begin_ns=100 * MS, end_ns=150 * MS)]
    row = ROW.pack(1, phase, 0, sent_ns, sent_ns, sent_ns + 10, -1, 1, 1, 0, 0, 0, 0, 0)
    assert measured_outside(row, turns) == outside
