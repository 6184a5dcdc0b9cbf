"""A block in which the hypervisor took CPU in most turns is measured again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import Plan, Turns
from tests.orchestrator.measure.test_run import Lab
from tests.support.hosts import FakeProcess, Line, checked_line, done_line, good_requester, rows
from tests.support.plans import plan

N = 10
TURNS = 4


def a_plan(repeats: int) -> Plan:
    made = plan("tcp", "rest", repeats=repeats)
    turns = Turns(length_s=0.5, rounds=TURNS, warm_up=0)
    return replace(made, cells=tuple(replace(cell, turns=turns) for cell in made.cells))


def robbed(stolen_s: float):
    """A requester in turns of half a second, in each of which so much was stolen."""

    def talk(process: FakeProcess) -> Iterator[Line]:
        if process.trial["turn_warm_up"] is None:
            yield from good_requester(process)
            return
        yield checked_line()
        yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
        yield {"type": "warm", "requests": 0}
        number = 0
        while process.received[-1] == "turn":
            begin_ns = number * 10**9
            counts = {"requests": 0 if number else N, "cpu_s": 0.1, "stolen_s": stolen_s}
            window = {"begin_ns": begin_ns, "end_ns": begin_ns + 5 * 10**8}
            yield {"type": "turn", "number": number, **counts, **window}
            number += 1
        Path(process.trial["record"]).write_bytes(rows(N))
        yield done_line(N)

    return talk


@pytest.fixture
def lab(no_analysis: None, tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_run_makes_two_such_blocks_again_and_no_more(lab: Lab) -> None:
    lab.host.requester = lambda number: robbed(0.3)
    result = lab.run(a_plan(4))
    manifest = lab.runs.manifest()
    assert result.is_complete
    assert [(t.block, t.attempt) for t in manifest.trials if t.attempt or t.block > 1] == [
        (0, 1),
        (0, 1),
        (1, 1),
        (1, 1),
        (2, 0),
        (2, 0),
        (3, 0),
        (3, 0),
    ]
    assert {trial.stolen_beside for trial in manifest.trials} == {0.6}
    assert [warning for warning in manifest.warnings if "disturbed" in warning] == [
        f"block {number} was disturbed and repeated; its earlier trials do not count" for number in (1, 2)
    ]


def test_a_quiet_run_makes_each_block_once(lab: Lab) -> None:
    lab.host.requester = lambda number: robbed(0.0)
    lab.run(a_plan(3))
    assert {trial.attempt for trial in lab.runs.manifest().trials} == {0}
