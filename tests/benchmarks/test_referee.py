"""What the check *referee* finds: measured in made-up rounds, kept in docs/validation/."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks import referee
from benchmarks.referee import FAULTS, made_up, verdict
from benchmarks.simulated import VALIDATION, as_csv

ROOT = Path(__file__).parents[2]


def rounds() -> list[referee.Round]:
    return made_up(random.Random(1), 10, 1.0, 0.02)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_gross_fault_of_each_kind_is_found_and_a_small_one_is_not(fault: referee.Fault) -> None:
    assert verdict(rounds(), 0.25, fault, 0.9) == "differs"
    assert verdict(rounds(), 0.25, fault, 0.05) == "agrees"


def test_the_page_has_what_is_stored() -> None:
    stored = json.loads((ROOT / "benchmarks" / "results" / "referee.json").read_text())["results"]
    kept = "".join((VALIDATION / f"referee-{name}.csv").read_text() for name in ("simulated", "measured"))
    assert [row for row in as_csv(referee.table(stored)).splitlines() if row not in kept] == []
