"""What `protos/process.md` promises of a responder's process, whatever it answers."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.bad_lines import CASES, OTHER_VERSION, spoilt
from tests.conformance.kit import IDENTITY, Implementation, Program, validated
from tests.conformance.reference.contract import VERSION
from tests.conformance.reference.wire import Connection

pytestmark = pytest.mark.busy

NUMBERS = {"a": 1, "b": 2}


def test_ready_says_who_it_is(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        assert (responder.ready["identity"], responder.ready["implementation"]) == (IDENTITY, answering[1])


def test_it_accepts_connections_once_it_says_ready(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        socket.create_connection(("127.0.0.1", responder.ready["port"]), timeout=ends.patience_s).close()


def test_it_answers_with_the_identity_it_was_given(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder, responder.connect() as connection:
        assert connection.ask("identity", {}) == {"identity": IDENTITY}


def test_without_an_implementation_the_first_one_answers(ends: Implementation, respond_protocol: str):
    first = ends.protocol(respond_protocol)["responders"][0]["name"]
    with ends.respond(respond_protocol) as responder:
        assert responder.ready["implementation"] == first


def test_it_listens_on_the_port_it_was_given(ends: Implementation, answering: tuple[str, str]):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ends.respond(*answering, port=port) as responder:
        assert responder.ready["port"] == port


def test_stats_count_requests_and_peers(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        assert (responder.stats()["answered"], responder.stats()["peers"]) == (0, 0)
        with responder.connect() as one, responder.connect() as other:
            one.ask("identity", {})
            if ends.keeps_connections(*answering):
                one.ask("add", NUMBERS)
            other.ask("add", NUMBERS)
            answered = 3 if ends.keeps_connections(*answering) else 2
            assert (responder.stats()["answered"], responder.stats()["peers"]) == (answered, 2)


def test_an_unknown_line_on_stdin_is_passed_over(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        responder.send("{garbage \u00ff")
        responder.send("statistics")
        assert responder.stats()["answered"] == 0
        with responder.connect() as connection:
            assert connection.ask("add", NUMBERS) == {"sum": 3}
        assert "Traceback" not in responder.said


ENDINGS: dict[str, Callable[[Program], None]] = {
    "SIGTERM": lambda program: program.signal(signal.SIGTERM),
    "SIGINT": lambda program: program.signal(signal.SIGINT),
    "closed-stdin": Program.close_stdin,
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_with_status_0_while_connections_are_open(
    ends: Implementation, answering: tuple[str, str], ending: str
):
    with ends.respond(*answering) as responder, responder.connect() as connection:
        connection.ask("add", NUMBERS)
        ENDINGS[ending](responder)
        assert responder.status() == 0


def test_stdout_carries_nothing_but_lines(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        with responder.connect() as connection:
            connection.ask("add", NUMBERS)
        responder.send("stats")
        responder.close_stdin()
        printed = responder.rest()
    assert [validated(line, "stats")["type"] for line in printed] == ["stats"]


def test_it_can_be_ended_before_it_has_a_line(ends: Implementation, respond_protocol: str):
    with ends.start("respond") as program:
        program.close_stdin()
        program.refusal()


@pytest.mark.parametrize(("case", "named"), CASES)
def test_a_line_that_is_no_serve_line_is_refused(ends: Implementation, respond_protocol: str, case: str, named: str):
    with ends.start("respond") as program:
        serve = {"type": "serve", "contract": VERSION, "protocol": respond_protocol, "identity": IDENTITY}
        program.send(spoilt(case, serve, "port"))
        assert named.format(number="port") in program.refusal()


def test_another_version_is_refused_by_name(ends: Implementation, respond_protocol: str):
    with ends.start("respond") as program:
        program.send({"type": "serve", "contract": OTHER_VERSION, "what": "another version has"})
        words = program.refusal()
    assert f"{OTHER_VERSION}" in words
    assert f"{VERSION}" in words.replace(str(OTHER_VERSION), "")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        pytest.param({"protocol": "smoke-signals"}, "smoke-signals", id="protocol"),
        pytest.param({"implementation": "nobody"}, "nobody", id="implementation"),
        pytest.param({"knobs": {"no such knob": "on"}}, "knob", id="knob"),
        pytest.param({"operations": ["no such operation"]}, "no such operation", id="operation"),
        pytest.param({"resources": {"no such store": "here"}}, "resources", id="resource"),
    ],
)
def test_what_there_is_not_is_refused(ends: Implementation, respond_protocol: str, changes: dict[str, Any], named: str):
    assert named in ends.refusal(**{"protocol": respond_protocol, **changes})


def test_it_may_be_told_what_it_will_be_asked(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering, operations=["add", "echo"]) as responder, responder.connect() as connection:
        assert connection.ask("echo/data", {"data": b"told"}) == {"data": b"told"}


def test_a_port_that_is_taken_is_refused(ends: Implementation, answering: tuple[str, str]):
    protocol, implementation = answering
    with socket.create_server(("127.0.0.1", 0)) as taken, ends.start("respond") as program:
        serve = {"type": "serve", "contract": VERSION, "protocol": protocol, "identity": IDENTITY}
        program.send({**serve, "implementation": implementation, "port": taken.getsockname()[1]})
        assert (program.rest(), program.status()) == ([], 1)
        assert program.said.strip()


def test_many_connections_are_answered_at_once(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        connections: list[Connection] = [responder.connect() for _ in range(20)]
        try:
            for sequence, connection in enumerate(connections):
                assert connection.ask("add", {"a": sequence, "b": -1}) == {"sum": sequence - 1}
        finally:
            for connection in connections:
                connection.close()
