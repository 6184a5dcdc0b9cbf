"""`fetch`, `batching` and `fields` in an experiment: which cells there are, what is compared, and what is refused."""

from __future__ import annotations

from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import Write

FEED = "name: x\nquestion: Why?\noperations: feed\n"
REST = "{protocol: rest, responder: starlette, client: pycurl-multi"
PAGES = (
    FEED + f"stacks: [{{protocol: graphql, batching: dataloader}}, {REST}, fetch: [whole, in-a-row, at-once]}},"
    f" {REST.replace('starlette', 'starlette-granian')}, fetch: at-once, http: '2'}}]\n"
)


def test_three_calls_are_a_task_and_one_is_a_call(write: Write) -> None:
    plan = make_plan(write(PAGES))
    assert [(cell.id.split("__", 3)[3], cell.kind, cell.calls, cell.parts, cell.in_a_row) for cell in plan.cells] == [
        ("reuse__dataloader__c1", "call", 1, None, 1),
        ("reuse__c1", "call", 1, None, 1),
        ("reuse__in-a-row__c1", "task", 3, 3, 3),
        ("reuse__at-once__c1", "task", 3, 3, 1),
        ("reuse__http2__at-once__c1", "task", 3, 3, 1),
    ]
    assert [cell.connections_each for cell in plan.cells] == [1, 1, 1, 3, 1]
    assert [cell.is_at_once for cell in plan.cells] == [False, False, False, True, True]
    (operation,) = plan.operations
    assert operation.made_of == ("user", "posts", "comments")
