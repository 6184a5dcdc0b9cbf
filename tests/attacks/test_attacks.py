from __future__ import annotations

import json
import os

import pytest

from tests.attacks.__main__ import BEGIN, END, PAGE, STORED, table
from tests.attacks.base import Attack
from tests.attacks.registry import ATTACKS
from tests.support.lab import needs_lab

NEEDS = {
    "": (),
    "root": (pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),),
    "lab": (needs_lab, pytest.mark.lab, pytest.mark.terraform, pytest.mark.slow),
}


def _param(attack: Attack):
    return pytest.param(
        attack,
        id=attack.name,
        marks=(
            *NEEDS[attack.needs],
            *([pytest.mark.slow] if attack.is_slow else []),
            pytest.mark.alone,
            pytest.mark.busy,
            pytest.mark.timeout(600),
        ),
    )


@pytest.mark.parametrize("attack", [_param(attack) for attack in ATTACKS])
def test_nothing_gets_through(attack, tmp_path):
    tally = attack.run(attack.few, 7, tmp_path)
    assert tally.tried == attack.few
    assert tally.broken == []


def test_the_page_shows_what_was_counted():
    stored = json.loads(STORED.read_text())
    assert PAGE.read_text().split(BEGIN)[1].split(END)[0].strip() == table(stored).strip()
    assert {name for name, counts in stored.items() if counts["broken"]} == set()
