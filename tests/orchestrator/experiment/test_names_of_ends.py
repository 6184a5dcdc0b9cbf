"""Names of responders and clients that a protocol does not have, and ends that cannot do what is asked: who can is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import of_the_call
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan

QUESTION = "name: x\nquestion: Why?\n"


def planned(folder: Path, text: str, operation: str = "timestamp") -> Plan:
    path = folder / "x.yaml"
    path.write_text(f"{QUESTION}operations: {operation}\nstacks: {text}\n")
    return make_plan(path, needs_programs=False)


@pytest.mark.parametrize("store", ["none", "postgresql"])
def test_responders_are_compared_whatever_library_is_usual_to_each(tmp_path: Path, store: str) -> None:
    text = "{protocol: rest, responder: [fastapi, go-net-http]}\ncompare_by: responder\n"
    plan = planned(tmp_path, f"{text}store: {store}", "balance")
    assert [(pair.cell.factors["responder"], pair.reference.factors["responder"]) for pair in pairs(plan)] == [
        ("go-net-http", "fastapi")
    ]


def test_responders_that_ask_no_database_differ_in_no_library(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{protocol: rest, responder: [fastapi, go-net-http, hyper, fastify]}")
    assert len({of_the_call(cell.factors) for cell in plan.cells}) == 1
