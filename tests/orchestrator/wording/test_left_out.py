"""A cell that nothing is compared with says why, in the report and on the terminal, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.wording.left_out import why_uncompared
from tests.support.summaries import a_run

NEW = "with a new connection for each request"


def with_another_policy(stack: str, **differing):
    """A run in which one stack was measured with a new connection for each request as well, at two loads."""
    run = a_run(stacks=3)
    cell = next(cell for cell in run.cells if cell.stack == stack)
    more = [replace(cell.having(connection="per-request"), id=f"more-{n}", **differing) for n in range(2)]
    return replace(run, cells=(*run.cells, *more)), more


def reference_of(run):
    return next(c for c in run.cells if c.id == run.comparisons[0].reference_cell).stack


def other_than_reference(run):
    return next(cell.stack for cell in run.cells if cell.stack != reference_of(run))


def a_plan(run):
    return replace(run, plan={**run.plan, "reference": reference_of(a_run(stacks=3))})


@pytest.mark.parametrize(
    ("is_reference", "differing", "why"),
    [
        (False, {}, f"the reference was not measured {NEW}"),
        (True, {}, f"no other stack was measured {NEW}"),
        (False, {"load": "9 requests, 9 in flight"}, "the reference was not measured in this setting"),
        (True, {"load": "9 requests, 9 in flight"}, "no other stack was measured in this setting"),
    ],
)
def test_the_reason_names_what_was_not_measured(is_reference, differing, why):
    stack = (reference_of if is_reference else other_than_reference)(a_run(stacks=3))
    run, more = with_another_policy(stack, **differing)
    run = a_plan(run)
    assert [why_uncompared(cell, run) for cell in more] == [why, why]
    assert not any(why_uncompared(cell, run) for cell in run.cells[:3])
