"""What operations hold: opened before the ready line, handed to them, closed once at the end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from services.python.contract.responder_lines import Serve
from services.python.operations import OPERATIONS
from services.python.serve.responder import CannotServe, Holding
from tests.support import holding_operations, wire
from tests.support.ends import PATIENCE_S, Program, program, responder

pytestmark = pytest.mark.busy

MODULE = holding_operations.__name__
ENDINGS = ["stdin closed", "SIGTERM", "SIGINT"]


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    for operation in holding_operations.ADDED:
        monkeypatch.setitem(OPERATIONS, operation.name, operation)


def told(**serve: Any) -> str:
    return Serve(**{"protocol": "tcp", "identity": "nonce", **serve}).to_json()


def end(answering: Program, how: str) -> tuple[int, list[str]]:
    """The exit status, and what it said on stderr."""
    if how != "stdin closed":
        answering.process.send_signal(signal.Signals[how])
        answering.process.wait(timeout=PATIENCE_S)
    status, _, stderr = answering.ended()
    return status, stderr.splitlines()


@pytest.mark.parametrize("how", ENDINGS)
def test_what_is_asked_is_opened_before_it_is_ready_and_closed_once(how: str) -> None:
    serve = {"operations": ["shifted", "pooled", "add", "shifted"], "resources": {"offset": "40"}}
    with responder("tcp", module=MODULE, **serve) as (answering, ready):
        for operation in ("shifted", "pooled"):
            assert wire.ask("tcp", "socket", ready["port"], operation, {"a": 1, "b": 1})[0][0] == {"sum": 42}
        status, said = end(answering, how)
    opened = [f"opened {name} with {{'offset': '40'}}" for name in ("shifted", "pooled")]
    assert (status, said) == (0, [*opened, "closed pooled", "closed shifted"])


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (
            {"operations": ["shifted", "refused"]},
            "refused: what it holds cannot be opened: ConnectionRefusedError: nobody",
        ),
        ({"operations": ["multiply"]}, "unknown operation 'multiply'"),
        ({"operations": ["add"], "resources": {"offset": "1"}}, "resources that no operation asked here takes: offset"),
        ({"operations": ["exchange"], "protocol": "http+json"}, "http+json does not carry exchange"),
        ({"operations": ["shifted"], "host": "198.51.100.7"}, "cannot listen on 198.51.100.7:0"),
    ],
)
def test_what_cannot_start_says_why_in_one_line_and_closes_what_it_opened(serve: dict[str, Any], words: str) -> None:
    with program(MODULE) as answering:
        answering.send(told(**serve))
        status, lines, stderr = answering.ended_by_itself()
    own = [line for line in stderr.splitlines() if line.startswith("respond: ")]
    assert (status, lines, len(own)) == (1, [], 1)
    assert words in own[0]
    assert stderr.count("opened shifted") == stderr.count("closed shifted")


@pytest.mark.parametrize("how", ENDINGS)
def test_it_can_be_ended_while_something_is_opened(how: str) -> None:
    with program(MODULE) as answering:
        answering.send(told(operations=["shifted", "never"]))
        while answering.process.stderr.readline() != "opening never\n":
            pass
        assert end(answering, how) == (0, ["closed shifted"])


def test_settings_go_to_those_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []

    @contextmanager
    def noting(settings: Any) -> Iterator[None]:
        seen.append(dict(settings))
        yield

    for name, resources in (("one", ("a",)), ("two", ("a", "b")), ("three", ())):
        operation = replace(OPERATIONS["add"], name=name, open=noting, resources=resources)
        monkeypatch.setitem(OPERATIONS, name, operation)
    held = Holding(["one", "two", "three"], {"a": "1", "b": "2"})
    assert held.open().keys() == {"one", "two", "three"}
    held.close()
    assert seen == [{"a": "1"}, {"a": "1", "b": "2"}, {}]
    with pytest.raises(CannotServe, match="takes: c"):
        Holding(["one"], {"c": "3"})
