"""Which implementation is tested, and how much of it: `--implementation`, `--conformance-all`, `--conformance-turns`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Asking, Implementation
from tests.conformance.reference.wire import WIRES

PARTS = {
    "answering": "respond",
    "asking": "request",
    "asking_http": "request",
    "coding": "request",
    "meeting": "both",
    "pair": "both",
    "stream_pair": "both",
    "version_pair": "both",
    "quic_pair": "both",
    "packing_pair": "both",
    "multiplexing_pair": "both",
    "window_pair": "both",
    "sharing": "respond",
    "sending": "respond",
    "receiving": "request",
    "respond_protocol": "respond",
    "request_protocol": "request",
    "pinging": "ping",
    "describing": "describe",
}
STREAMS = {"events", "activity"}
CODED_ALONE = {"evolution"}
REFUSING = {"stream", *STREAMS}  # what an end says that reads or sends none
IN_TURN = {"answering", "asking", "asking_http", "meeting"}  # of which many promises ask the same
_TURNS = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption(
        "--implementation", default="python", help="a declaration in tests/conformance/implementations, or a path"
    )
    group.addoption(
        "--conformance-all", action="store_true", help="every responder, client and operation, not the defaults alone"
    )
    group.addoption(
        "--conformance-turns",
        action="store_true",
        help="each promise with two ends in turn, each operation with one pair",
    )
    group.addoption("--patience", type=float, default=30, help="seconds after which a silent program is one that hangs")


@cache
def declared(name: str, patience_s: float) -> Implementation:
    return Implementation.named(name, patience_s)


def chosen(config: pytest.Config) -> Implementation:
    return declared(config.getoption("--implementation", "python"), config.getoption("--patience", 30))


@pytest.fixture(scope="session")
def ends(request: pytest.FixtureRequest) -> Implementation:
    """The implementation that is tested."""
    return chosen(request.config)


@pytest.fixture
def asking(request: pytest.FixtureRequest, ends: Implementation, tmp_path: Path) -> Asking:
    """A requester, of a protocol that scripted servers speak."""
    protocol, client = request.param
    return Asking(ends, protocol, client, tmp_path)


asking_http = asking  # of one that travels over HTTP


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = next((name for name in PARTS if name in metafunc.fixturenames), None)
    if wanted is None:
        return
    ends = chosen(metafunc.config)
    roles = ("respond", "request") if PARTS[wanted] == "both" else (PARTS[wanted],)
    missing = [role for role in roles if role not in ends.commands]
    everything = metafunc.config.getoption("--conformance-all", default=False)
    # As a part of the whole suite, of which nobody names this folder, ends take turns.
    is_part = not any("tests/conformance" in word for word in metafunc.config.args)
    in_turn = is_part or metafunc.config.getoption("--conformance-turns")
    values = [] if missing else list(_values(wanted, ends, everything, in_turn))
    if in_turn and wanted in IN_TURN and len(values) > 2:
        turns = metafunc.config.stash.setdefault(_TURNS, Counter())
        turns[wanted] += 1
        values = [values[(turns[wanted] + step) % len(values)] for step in (0, len(values) // 2)]
    indirect = wanted.startswith("asking")
    metafunc.parametrize(wanted, [value for value, _ in values], ids=[name for _, name in values], indirect=indirect)


def _values(wanted: str, ends: Implementation, everything: bool, in_turn: bool) -> Iterator[tuple[object, str]]:
    spoken = [protocol for protocol in ends.protocols if protocol["name"] in WIRES]
    spoken.sort(key=lambda protocol: list(WIRES).index(protocol["name"]))
    if wanted == "answering":
        for place, protocol in enumerate(spoken if everything else spoken[:2]):
            for responder in protocol["responders"][: None if everything else 1]:
                yield _after_first(place, protocol["name"], responder["name"])
    elif wanted == "sharing":
        able = [(p["name"], end["name"]) for p in spoken for end in p["responders"] if _has_workers(end)]
        yield from (_named(*end) for end in (able if everything else able[:1]))
    elif wanted in ("asking", "asking_http"):
        known = spoken if wanted == "asking" else [protocol for protocol in spoken if protocol["name"] != "tcp"]
        for place, protocol in enumerate(known if everything else known[: 2 if wanted == "asking" else 1]):
            for client in _callers(protocol) if everything else ends.default_clients(protocol["name"]):
                yield _after_first(place, protocol["name"], client)
    elif wanted == "coding":
        codecs = [(p["name"], c["name"]) for p in ends.protocols for c in p["clients"] if c.get("kind") == "codec"]
        yield from (_named(*end) for end in (codecs if everything else codecs[:2]))
    elif wanted == "meeting":
        yield from _meetings(ends, everything)
    elif wanted == "pair":
        yield from _pairs(ends, everything, in_turn)
    elif wanted == "stream_pair":
        yield from _stream_pairs(ends, everything)
    elif wanted == "version_pair":
        yield from _told_pairs(ends, everything, "http", "2")
    elif wanted == "quic_pair":
        yield from _told_pairs(ends, everything, "http", "3")
    elif wanted == "packing_pair":
        yield from _told_pairs(ends, everything, "compression", "gzip", one_each=True)
    elif wanted == "multiplexing_pair":
        yield from _told_pairs(ends, everything, "connections", "each", one_each=True)
    elif wanted == "window_pair":
        yield from _told_pairs(ends, everything, "flow_window", "library", one_each=True)
    elif wanted in ("sending", "receiving"):
        role = "responders" if wanted == "sending" else "clients"
        names = [end["name"] for protocol in ends.protocols if protocol["name"] == "sse" for end in protocol[role]]
        for name in names if everything else names[:1]:
            yield ("sse", name) if wanted == "sending" else name, f"sse/{name}"
    elif wanted.endswith("_protocol"):
        yield spoken[0]["name"], spoken[0]["name"]
    else:
        yield ends, ends.name


def _named(protocol: str, end: str) -> tuple[object, str]:
    return (protocol, end), f"{protocol}/{end}"


def _after_first(place: int, protocol: str, end: str) -> tuple[object, str]:
    """A case; one of another protocol than the first is among the tests that take longer."""
    return pytest.param((protocol, end), marks=[pytest.mark.slow] if place else []), f"{protocol}/{end}"


def _callers(protocol: dict[str, Any]) -> list[str]:
    return [client["name"] for client in protocol["clients"] if client.get("kind", "call") == "call"]


def _each_with_one(responders: list[str], clients: list[str], default: str) -> list[tuple[str, str]]:
    """Each responder with one client, and the first responder with each of the others."""
    both = [(responder, default) for responder in responders]
    return both + [(responders[0], client) for client in clients if client != default]


def _has_workers(responder: dict[str, Any]) -> bool:
    return len(responder.get("knobs", {}).get("workers", ())) > 1 and "workers" not in responder.get("refuses", {})


def _pairs(ends: Implementation, everything: bool, in_turn: bool) -> Iterator[tuple[object, str]]:
    """Protocol, responder, client, operation: each responder with the default client, and the reverse.

    In turn: all of them with `echo`, and the other operations with one pair each.
    """
    for protocol in ends.protocols:
        responders = [responder["name"] for responder in protocol["responders"]]
        both = _each_with_one(responders, _callers(protocol), ends.default_clients(protocol["name"])[0])
        calls = [operation for operation in protocol["operations"] if operation not in STREAMS | CODED_ALONE]
        for place, (responder, client) in enumerate(both if everything else both[:1]):
            for number, operation in enumerate(calls):
                is_due = (number - place) % min(len(both), len(calls)) == 0 or not in_turn
                if operation == "echo" or (everything and is_due):
                    name = f"{protocol['name']}/{responder}-{client}-{operation}"
                    yield (protocol["name"], responder, client, operation), name


def _meetings(ends: Implementation, everything: bool) -> Iterator[tuple[object, str]]:
    """Protocol, responder, client, whether it keeps connections: each client of a protocol that echoes bytes.

    With the first responder that keeps connections, or else the first. Without `everything` the first client alone.
    """
    for protocol in ends.protocols:
        clients, responders = _callers(protocol), protocol["responders"]
        if "echo" not in protocol["operations"] or not clients or not responders:
            continue
        keeping = [end for end in responders if "reuse" not in end.get("refuses", {})]
        responder = (keeping or responders)[0]["name"]
        for client in clients if everything else ends.default_clients(protocol["name"])[:1]:
            yield (protocol["name"], responder, client, bool(keeping)), f"{protocol['name']}/{responder}-{client}"


def _stream_pairs(ends: Implementation, everything: bool) -> Iterator[tuple[object, str]]:
    """Protocol, responder, client, stream: each responder with the first client that reads streams, and the reverse.

    Other streams than `events` are among the tests that take longer.
    """
    for protocol in ends.protocols:
        if not (streams := STREAMS & set(protocol["operations"])):
            continue
        responders, clients = (
            [end["name"] for end in protocol[role] if not REFUSING & set(end.get("refuses", {}))]
            for role in ("responders", "clients")
        )
        both = _each_with_one(responders, clients, clients[0])
        for operation in sorted(streams):
            marks = [] if operation == "events" else [pytest.mark.slow]
            for responder, client in both if everything else both[:1]:
                pair = protocol["name"], responder, client, operation
                yield pytest.param(pair, marks=marks), f"{protocol['name']}/{responder}-{client}-{operation}"


def _told_pairs(
    ends: Implementation, everything: bool, knob: str, value: str, *, one_each: bool = False
) -> Iterator[tuple[object, str]]:
    """Protocol, responder, client that can be told this value of a knob: each responder with one client, and the reverse.

    With `one_each` one pair of each protocol. Not all: of two protocols, as what is done about it is the transport's.
    """
    protocols = 0
    for protocol in ends.protocols:
        responders, clients = (
            [
                end["name"]
                for end in protocol[role]
                if end.get("kind", "call") == "call"
                and value in end.get("knobs", {}).get(knob, ())
                and not {knob, f"{knob}: {value}", *_needed(end, knob)} & set(end.get("refuses", {}))
            ]
            for role in ("responders", "clients")
        )
        both = _each_with_one(responders, clients, clients[0]) if responders and clients else []
        protocols += bool(both)
        if not everything and protocols > 2:
            return
        for responder, client in both if everything and not one_each else both[:1]:
            yield (protocol["name"], responder, client), f"{protocol['name']}/{responder}-{client}"


def _needed(end: dict[str, Any], knob: str) -> set[str]:
    """What goes with a knob of connections where the protocol leaves the version of HTTP open."""
    return {"http: 2"} if knob in ("connections", "flow_window") and "http" in end["knobs"] else set()
