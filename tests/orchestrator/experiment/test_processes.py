"""`processes: N`: what a file may say, what a plan refuses and where, and how a load is divided."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.plan.cells import connections_in, seed_of, share
from orchestrator.experiment.plan.estimate import estimate
from tests.support.experiments import planner

HEAD = "name: x\nquestion: Why?\noperations: add\nrepeats: 2\n"
EIGHT = "load: {concurrency: 8, requests: 100}\n"

plan_of = planner(HEAD)


def test_bodies_do_not_depend_on_processes_and_each_warms_up(tmp_path: Path) -> None:
    warm = "warmup: {requests: 500, at_least: 0s}\n"
    one, several = (plan_of(tmp_path, f"stacks: rest\nprocesses: {n}\n{warm}{EIGHT}") for n in (1, 8))
    assert one.cells[0].exchange == several.cells[0].exchange
    assert estimate(several).requests > estimate(one).requests


def test_shared_connections_are_divided_and_never_more_than_a_process_has_in_flight(tmp_path: Path) -> None:
    text = "stacks: grpc\nconnections: [4, 7]\nprocesses: 3\nload: {concurrency: 7, requests: 100}\n"
    for cell in plan_of(tmp_path, text).cells:
        kept = [connections_in(cell, 0, number) for number in range(3)]
        assert sum(kept) == cell.factors["connections"]
        assert all(k <= share(cell.load, 3, n).concurrency for n, k in enumerate(kept))


def test_seeds_stay_numbers_that_every_reader_of_json_keeps() -> None:
    assert seed_of(5, 0) == 5
    assert seed_of(2**53 - 1, 1) == 0
