"""`workers: N`: what a file may say, what a plan refuses and why, and where it warns."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.topology import with_too_few_cpus
from tests.support.experiments import planner

HEAD = "name: x\nquestion: Why?\nrepeats: 2\n"
ADD = "operations: add\nload: {concurrency: 8, requests: 100}\n"

plan_of = planner(HEAD)


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("workers: 2\npin: 'off'\n", ""),
        ("workers: 2\n", "`workers: 2` brings nothing here, as `pin: apart` gives the responder one CPU"),
        ("workers: 2\npin: together\n", "give `pin: 'off'`"),
        ("workers: 1\n", ""),
        ("workers: 2\nprovider: lab\nmachine: f1-micro\n", "more than the cores of f1-micro (0.2)"),
        ("workers: 2\nprovider: lab\nmachine: e2-standard-2\npin: 'off'\n", ""),
        ("workers: 2\nprovider: lab\nmachine: e2-standard-2\n", "as `pin: apart` gives the responder one CPU"),
    ],
)
def test_a_plan_warns_of_workers_without_a_cpu_each(tmp_path: Path, text: str, warned: str) -> None:
    plan = plan_of(tmp_path, f"stacks: rest\n{text}{ADD}")
    said = list(with_too_few_cpus(plan))
    assert [warned in words for words in said] == ([True] if warned else [])
