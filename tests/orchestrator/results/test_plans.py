"""A plan from elsewhere is held against its ranges, and its parts against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.experiment.plan.reading import read_plan
from tests.support.runs import a_plan

CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "cells.1.stack": lambda plan: plan["cells"][1].update(stack="x"),
    "cells.1.operation": lambda plan: plan["cells"][1].update(operation="x"),
    "cells.1.placement": lambda plan: plan["cells"][1].update(placement="x"),
    "cells.1.timeout_s": lambda plan: plan["cells"][1].update(timeout_s=-1.0),
    "cells.2.id": lambda plan: plan["cells"].append(plan["cells"][0]),
    "trials.0.cell": lambda plan: plan["trials"][0].update(cell="x"),
    "trials.0.index": lambda plan: plan["trials"][0].update(index=7),
    "trials.0.block": lambda plan: plan["trials"][0].update(block=-1),
    "matters": lambda plan: plan.update(matters=-1.0),
    "matters: .*1e": lambda plan: plan.update(matters=1e308),
    "reference": lambda plan: plan.update(reference="x"),
    "resolved.rest": lambda plan: plan.update(resolved={plan["stacks"][0]["id"]: "x"}),
    "resolved.rest.*own_work": lambda plan: plan.update(resolved={plan["stacks"][0]["id"]: {"own_work": "x"}}),
}


@pytest.mark.parametrize("place", CHANGES)
def test_a_plan_whose_parts_do_not_fit_is_refused_by_the_place(place: str) -> None:
    plan = a_plan().to_dict()
    assert read_plan(plan) is not None
    CHANGES[place](plan)
    with pytest.raises(ValueError, match=place):
        read_plan(plan)
