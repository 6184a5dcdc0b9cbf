"""What a trial is given of its host and its time."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from orchestrator.measure.target import Ask, Deadline
from services.python.contract.lines import Load, Payload


class Host:
    workspace = PurePosixPath("/run/of/mine")


@pytest.mark.parametrize(
    ("store", "resources"),
    [
        ({}, None),
        ({"store": "sqlite"}, {"store": "sqlite", "database": "/run/of/mine/store.sqlite3"}),
        ({"store": "sqlite", "pool": "4"}, {"store": "sqlite", "pool": "4", "database": "/run/of/mine/store.sqlite3"}),
    ],
)
def test_a_responder_with_a_store_has_a_file_of_the_run(
    store: dict[str, str], resources: dict[str, str] | None
) -> None:
    host: Any = Host()
    ask = Ask(protocol="rest", responder="fastapi", client="raw", operation="balance", store=store)
    assert ask.resources_on(host) == resources


def test_slow_readers_are_given_the_time_that_they_take() -> None:
    payload, load = Payload(kind="events", size=9, per_second=500.0), Load(duration_s=4.0)
    ends = {"protocol": "sse", "responder": "uvicorn", "client": "aiohttp", "operation": "events", "kind": "stream"}
    slow, usual = (
        Deadline(ask=Ask(**ends, payload=payload, load=load, knobs=knobs), ready_s=1.0, stage="measure").at_most_s
        for knobs in ({"read_rate": "100"}, {})
    )
    assert slow - usual == 4 * (500 / 100 - 1)
