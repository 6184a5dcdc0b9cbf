"""`store` and `pool` in an experiment: which cells there are, what is refused, and what a responder is told."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.model.factors import BY_NAME, OWN_DRIVERS, resources
from orchestrator.experiment.plan.cells import ask_postgresql
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure.target import Ask
from tests.support.experiments import Write

BALANCE = "name: x\nquestion: Why?\nstacks: rest\noperations: balance\n"


def test_a_cell_says_its_store_and_pool_where_they_are_not_the_usual_ones(write: Write) -> None:
    plan = make_plan(write(BALANCE + "store: [none, sqlite]\npool: [standard, 4]\nexclude: {store: none, pool: 4}\n"))
    assert [cell.id.split("__")[3:] for cell in plan.cells] == [
        ["reuse", "c1"],
        ["reuse", "sqlite", "c1"],
        ["reuse", "sqlite", "pool-4", "c1"],
    ]
    assert len({cell.exchange for cell in plan.cells}) == 3
    assert [cell.factors["store"] for cell in plan.cells] == ["none", "sqlite", "sqlite"]


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


@pytest.mark.parametrize("reference", ["rest (fastapi, pycurl)", "rest (go-net-http, go-net-http)"])
def test_stacks_with_libraries_of_their_own_are_compared_store_by_store(write: Write, reference: str) -> None:
    text = of_both(f"store: [none, postgresql]\nreference: {reference}\n")
    found = [pair for pair in pairs(make_plan(write(text), needs_programs=False)) if pair.factor == "stack"]
    assert [(pair.cell.factors["store"], pair.reference.factors["store"]) for pair in found] == [
        ("none", "none"),
        ("postgresql", "postgresql"),
    ]


def test_stores_are_compared_by_the_library_of_a_responder_and_no_other(write: Write) -> None:
    more = "store: [none, postgresql]\ndriver: [psycopg, asyncpg]\nexclude: {store: none, driver: asyncpg}\n"
    plan = make_plan(write(BALANCE + more + "compare_by: [store, driver]\n"))
    assert [pair.cell.factors["driver"] for pair in pairs(plan) if pair.factor == "store"] == ["psycopg"]


def test_every_driver_that_is_declared_can_be_asked_for() -> None:
    levels = {level.value for level in BY_NAME["driver"].levels}
    declared = [r.drivers for p in protocols().values() for r in p.responders if r.drivers]
    assert {name for drivers in declared for name in drivers} == levels
    assert {drivers[0] for drivers in declared} == {*OWN_DRIVERS}


def test_a_codec_alone_has_no_store(write: Write) -> None:
    calls = "{protocol: rest, store: sqlite}, {protocol: grpc, store: sqlite}"
    text = BALANCE.replace("rest", f"[{calls}, {{protocol: json, client: [stdlib, orjson]}}]")
    found = {(cell.kind, cell.factors["store"]) for cell in make_plan(write(text)).cells}
    assert found == {("call", "sqlite"), ("codec", None)}


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


ACTIVITY = """\
name: x
question: Why?
stacks: [websocket, sse, {protocol: grpc, responder: grpc-aio}]
operations: [{activity: {per_second: [100/s, 1000/s]}}]
load: {concurrency: 2, duration: 3s}
"""


def test_a_stream_of_a_table_has_a_store_pool_and_driver_as_calls_have(write: Write) -> None:
    stores = "store: [none, sqlite, postgresql]\npool: [standard, 4]\ndriver: [psycopg, asyncpg]\nexclude:\n"
    less = "  - {store: [none, sqlite], driver: asyncpg}\n  - {store: none, pool: 4}\n"
    plan = make_plan(write(ACTIVITY + stores + less + "compare_by: [stack, store, driver]\n"))
    assert {cell.kind for cell in plan.cells} == {"stream"}
    assert len(plan.cells) == 3 * 2 * (1 + 2 + 4)
    cell = next(cell for cell in plan.cells if cell.id.startswith("sse") and "sqlite" in cell.id)
    assert cell.id == "sse-uvicorn-aiohttp__activity-100-per-s__local__reuse__sqlite__c2"
    assert (cell.factors["per_second"], cell.factors["bytes"], cell.factors["store"]) == (100.0, None, "sqlite")
    assert {operation.label for operation in plan.operations} == {"activity 100/s", "activity 1000/s"}
    assert ask_postgresql(plan.cells)
    compared = {pair.factor for pair in pairs(plan)}
    assert compared == {"stack", "store", "driver"}


def test_two_streams_are_beside_each_other_and_calls_have_the_common_load(write: Write) -> None:
    both = ACTIVITY.replace("[{activity", "[{events: {}}, {activity")
    assert {cell.load.duration_s for cell in make_plan(write(both)).cells} == {3.0}
    text = ACTIVITY.replace("[{activity", "[add, {activity").replace("sse, ", "").replace("duration: 3s", "requests: 9")
    plan = make_plan(write(text))
    assert {(cell.kind, cell.load.requests, cell.load.duration_s) for cell in plan.cells} == {
        ("call", 9, None),
        ("stream", None, 10.0),
    }


def test_the_shipped_experiment_of_a_table_plans() -> None:
    plan = make_plan(Path(__file__).parents[3] / "experiments" / "stream_from_database.yaml")
    assert {cell.kind for cell in plan.cells} == {"stream"}
    assert {(cell.factors["store"], cell.load.concurrency) for cell in plan.cells} == {
        (store, clients) for store in ("none", "sqlite", "postgresql") for clients in (1, 10)
    }
    assert len(plan.cells) == 3 * 3 * 2
