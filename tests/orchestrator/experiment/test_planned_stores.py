"""`store` and `pool` in an experiment: which cells there are, what is refused, and what a responder is told."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.measure.ask import Ask
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
