"""`store` and `pool` in an experiment: which cells there are, what is refused, and what a responder is told."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.model.store_factors import OWN_DRIVERS, resources
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.databases import ask_postgresql
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.reading import read_plan
from orchestrator.experiment.read.problems import ExperimentError
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BALANCE + "pool: 0\n", "must be from 1 to 1,000"),
        (BALANCE + "pool: many\n", "neither standard nor a whole number"),
        (BALANCE + "pool: 4\n", "rows in memory need no connection"),
        (BALANCE + "store: oracle\n", "is not one of none, sqlite, postgresql"),
        (BALANCE + "store: sqlite\ndriver: asyncpg\n", "is of PostgreSQL"),
        (BALANCE + "driver: asyncpg\n", "need no connection"),
        (BALANCE + "workers: [1, 2]\n", "each worker would have a store of its own"),
        (BALANCE.replace("rest", "grpc") + "store: postgresql\ndriver: asyncpg\n", "no event loop"),
        (BALANCE.replace("balance", "add") + "store: sqlite\n", "add asks no store"),
        (
            BALANCE.replace("stacks: rest", 'stacks: {protocol: rest, external: "127.0.0.1:9"}') + "store: sqlite\n",
            "runs already",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_plan_time(write: Write, text: str, why: str) -> None:
    with pytest.raises(ExperimentError, match=why):
        make_plan(write(text))


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
    assert read_plan(plan.to_dict()) == plan
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


@pytest.mark.parametrize(
    ("text", "why", "place"),
    [
        ("store: postgresql\ndriver: psycopg\n", "go-net-http cannot do driver: psycopg: it asks PostgreSQL by pgx", 1),
        ("store: postgresql\ndriver: asyncpg\n", "go-net-http cannot do driver: asyncpg: it asks PostgreSQL by pgx", 1),
        (
            "store: postgresql\ndriver: pgx\n",
            "fastapi cannot do driver: pgx: it asks PostgreSQL by psycopg or asyncpg",
            0,
        ),
        ("store: sqlite\n", "go-net-http cannot do store: sqlite: its rows are in memory or in PostgreSQL", 1),
        ("driver: pgx\n", "need no connection", 1),
    ],
)
def test_a_library_that_a_responder_does_not_have_is_refused_with_its_place(
    write: Write, text: str, why: str, place: int
) -> None:
    with pytest.raises(ExperimentError, match=why) as refused:
        make_plan(write(of_both(text)), needs_programs=False)
    column = 10 if place == 0 else 16
    assert any(f":{column}: " in line and why in line for line in str(refused.value).splitlines())


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
    assert read_plan(plan.to_dict()) == plan
    compared = {pair.factor for pair in pairs(plan)}
    assert compared == {"stack", "store", "driver"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ACTIVITY + "pool: 4\n", "rows in memory need no connection"),
        (ACTIVITY + "store: sqlite\ndriver: asyncpg\n", "is of PostgreSQL"),
        (ACTIVITY.replace("activity", "events") + "store: sqlite\n", "events asks no store"),
        (ACTIVITY + "workers: 2\n", "each worker would have a store of its own"),
        (ACTIVITY + "connection: per-request\n", "no connection: per-request"),
        (ACTIVITY.replace("sse", "rest"), "rest does not carry 'activity'"),
        (
            ACTIVITY.replace("responder: grpc-aio", "responder: grpcio") + "store: postgresql\ndriver: asyncpg\n",
            "no event",
        ),
        (ACTIVITY.replace("duration: 3s", "requests: 9"), r"`activity: \{per_second: ...\}` says how many a second"),
        (ACTIVITY.replace("duration: 3s", "duration: 3s, rate: 5/s"), "a stream has no `rate`"),
        (ACTIVITY + "warmup: {requests: 9}\n", "no number of requests"),
        (ACTIVITY.replace("100/s, 1000/s]", "100/s], bytes: 5 B"), "bytes"),
        (ACTIVITY.replace("[100/s, 1000/s]", "0/s"), "per_second"),
        (
            ACTIVITY.replace(
                "[{activity: {per_second: [100/s, 1000/s]}}]",
                "{mix: {of: [{add: {}, share: 50 %}, {activity: {}, share: 50 %}]}}",
            ).replace("sse, ", ""),
            "'activity' is no call",
        ),
    ],
)
def test_what_a_stream_of_a_table_does_not_have_is_refused(write: Write, text: str, why: str) -> None:
    with pytest.raises(ExperimentError, match=why):
        make_plan(write(text))


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
    plan = make_plan(Path(__file__).parents[3] / "experiments" / "activity.yaml")
    assert {cell.kind for cell in plan.cells} == {"stream"}
    assert {(cell.factors["store"], cell.load.concurrency) for cell in plan.cells} == {
        (store, clients) for store in ("none", "sqlite", "postgresql") for clients in (1, 10)
    }
    assert len(plan.cells) == 3 * 3 * 2
