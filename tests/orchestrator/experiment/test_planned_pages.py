"""`fetch`, `batching`, `fields`, `store` and `pool` in an experiment: cells, what is compared and refused."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from orchestrator.experiment.model.factors import resources
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure.target import Ask
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


BALANCE = "name: x\nquestion: Why?\nstacks: rest\noperations: balance\n"


BOTH = "[rest, {protocol: rest, responder: go-net-http, client: go-net-http}]"


def of_both(text: str) -> str:
    """With a stack of Go's beside Python's."""
    return BALANCE.replace("stacks: rest", f"stacks: {BOTH}") + text


def test_a_responder_asks_postgresql_by_its_own_library_unless_one_is_named(write: Write) -> None:
    plan = make_plan(write(of_both("store: [none, postgresql]\ncompare_by: [stack, store]\n")), needs_programs=False)
    assert [cell.id.split("__")[3:] for cell in plan.cells] == [
        ["reuse", "c1"],
        ["reuse", "postgresql", "c1"],
        ["reuse", "c1"],
        ["reuse", "postgresql", "pgx", "c1"],
    ]
    assert [cell.factors["driver"] for cell in plan.cells] == ["psycopg", "psycopg", "psycopg", "pgx"]
    assert [resources(cell.factors).get("driver") for cell in plan.cells] == [None, None, None, "pgx"]
    of_stores = [pair for pair in pairs(plan) if pair.factor == "store"]
    assert [pair.cell.factors["driver"] for pair in of_stores] == ["psycopg", "pgx"]
    assert all(pair.cell.stack == pair.reference.stack for pair in of_stores)


def test_stores_are_compared_by_the_library_of_a_responder_and_no_other(write: Write) -> None:
    more = "store: [none, postgresql]\ndriver: [psycopg, asyncpg]\nexclude: {store: none, driver: asyncpg}\n"
    plan = make_plan(write(BALANCE + more + "compare_by: [store, driver]\n"))
    assert [pair.cell.factors["driver"] for pair in pairs(plan) if pair.factor == "store"] == ["psycopg"]


class Host:
    workspace = PurePosixPath("/run/of/mine")


@pytest.mark.parametrize(
    ("store", "told"),
    [
        ({}, None),
        ({"store": "sqlite"}, {"store": "sqlite", "database": "/run/of/mine/store.sqlite3"}),
        ({"store": "sqlite", "pool": "4"}, {"store": "sqlite", "pool": "4", "database": "/run/of/mine/store.sqlite3"}),
    ],
)
def test_a_responder_is_told_of_a_file_of_the_run(store: dict[str, str], told: dict[str, str] | None) -> None:
    host: Any = Host()
    ask = Ask(protocol="rest", responder="fastapi", client="raw", operation="balance", store=store)
    assert ask.resources_on(host) == told
