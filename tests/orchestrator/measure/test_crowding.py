"""Processes of one end that have fewer CPUs than they are: the run says so before it measures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.base import Pair
from orchestrator.measure.environment import crowded
from services.python.contract.description import Description


def fleet(responder_cpus: str | None) -> Any:
    requester, responder = SimpleNamespace(name="asks"), SimpleNamespace(name="answers")
    pair = Pair((requester,), responder, None, responder_cpus)  # type: ignore[arg-type]
    return SimpleNamespace(pair=lambda placement: pair)


@pytest.mark.parametrize(
    ("cpus", "pinned", "crowds"),
    [(4, None, False), (2, None, True), (4, "0", True), (None, None, False)],
)
def test_workers_without_a_cpu_each_are_a_warning(
    tmp_path: Path, cpus: int | None, pinned: str | None, crowds: bool
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nquestion: Why?\noperations: add\nstacks: rest\nworkers: [1, 3]\nload: {requests: 10}\n")
    facts = {"asks": Description(cpus=1), "answers": Description(cpus=cpus)}
    said = list(crowded(make_plan(path), fleet(pinned), facts))
    words = f"on answers, 3 responder workers share {'one CPU' if pinned else '2 CPUs'}: they wait for each other"
    assert said == ([words] if crowds else [])
