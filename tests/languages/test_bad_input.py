"""What bad input gets: the programs of every language answer it alike, by exit status, `failed.kind`, and last words.

Beyond what `tests/conformance` holds every implementation to: each fault with what the last words must name, and of a
requester with the kind of its failure. What holds of each language holds between any two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue.read import catalogue
from tests.conformance.kit import IDENTITY, Implementation
from tests.conformance.reference.contract import VERSION
from tests.conformance.reference.server import Server
from tests.conformance.reference.wire import WIRES
from tests.languages.bad_input import Line, answer, failed, refused_to_serve, serve, text_of, trial

pytestmark = [pytest.mark.slow, pytest.mark.busy]

MIB = 2**20
Spoil = Callable[[Line], bytes]


# What stands on stdin and is no line, whichever end reads it; {key} is a number of the line.
def _without(key: str) -> Spoil:
    return lambda line: text_of({name: value for name, value in line.items() if name != key})


def _with(**changes: Any) -> Spoil:
    return lambda line: text_of(line | changes)


def _written(written: str, **changes: str) -> Spoil:
    """A value as JSON would not write it, in the place of "@"."""
    return lambda line: text_of(line | changes).replace(b'"@"', written.encode("latin1"))


NO_LINES: dict[str, tuple[Spoil, tuple[str, ...]]] = {
    "nothing": (lambda line: b"", ("stdin ended",)),
    "half a line": (lambda line: text_of(line)[:40], ("JSON",)),
    "a number": (lambda line: b"7\n", ("JSON",)),
    "two objects": (lambda line: text_of(line).strip() + b" {}\n", ("JSON",)),
    "no UTF-8": (_written('"\xff"', protocol="@"), ("UTF-8",)),
    "nested without end": (lambda line: b"[" * 100_000 + b"\n", ()),
    "2 MiB and no line": (lambda line: b"x" * 2 * MIB, ("1 MiB",)),
    "a version that is a text": (_with(contract="3"), (f"contract {VERSION}", 'speaks "3"')),
    "a version with a point": (_written("2.0", contract="@"), (f"contract {VERSION}",)),
    "no version": (_without("contract"), (f"contract {VERSION}", "does not say which")),
    "a version that is null": (_with(contract=None), (f"contract {VERSION}", "does not say which")),
    "a line that is not known": (_with(type="what"), ("what",)),
    "a line without a type": (_without("type"), ("type",)),
    "a protocol with no end": (_with(protocol="smoke\nsignals\a" * 10_000), ("smoke",)),
    "an unknown knob": (_with(knobs={"colour": "red"}), ("colour",)),
    "an unknown value of a knob": (_with(knobs={"nodelay": "sometimes"}), ("nodelay", "sometimes")),
    "a knob that is a number": (_with(knobs={"nodelay": 1}), ("knobs.nodelay",)),
    "a knob twice": (_written('{"tls": "a", "tls": "b"}', knobs="@"), ("tls",)),
    "TLS without its files": (_with(knobs={"tls": "tls1.3"}), ("tls",)),
    "a session without TLS": (_with(knobs={"session": "resumed"}), ("session",)),
    "a schema that nothing here takes": (_with(schema={"path": "/nowhere", "sha256": "0" * 64}), ("schema",)),
    "a part that is null": (_with(knobs=None), ("knobs",)),
}
NO_NUMBERS = {
    "below what it may be": "-1",
    "with a point": "1.5",
    "with an exponent": "1e3",
    "2^63": str(2**63),
    "2^64": str(2**64),
    "1e308": "1e308",
    "1e400": "1e400",
    "of 400 digits": "1" + "0" * 400,
    "NaN": "NaN",
    "a list": "[]",
}


@pytest.mark.parametrize("case", NO_LINES)
def test_an_end_refuses_what_is_no_line(language: Implementation, case: str, tmp_path: Path) -> None:
    """Both ends of a language read lines alike: each is given every second case, and every case is given to both."""
    spoil, named = NO_LINES[case]
    responds = (list(NO_LINES).index(case) + sorted(catalogue().languages).index(language.name)) % 2 == 0
    text = spoil(serve(language) if responds else trial(language, 1, tmp_path / "record"))
    came = answer(language, "respond" if responds else "request", text, closes=not text.endswith(b"\n"))
    if responds:
        refused_to_serve(came, *named)
    else:
        failed(came, "trial", *named)


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_a_responder_refuses_a_port_that_is_none(language: Implementation, case: str) -> None:
    text = _written(NO_NUMBERS[case], port="@")(serve(language))
    refused_to_serve(answer(language, "respond", text), *NAMED_IN_JSON.get(case, ("port",)))


NAMED_IN_JSON: dict[str, tuple[str, ...]] = {"NaN": (), "1e400": (), "of 400 digits": ()}
"""What JSON has no number for, or a reader of it no room, may be refused before anybody knows whose it is."""
WHOLE = ("seed", "calls", "start_at_unix_ns", "load.concurrency", "load.requests", "warmup.requests", "target.port")
ANY = ("timeout_s", "load.rate_per_s", "load.duration_s", "load.think_s", "warmup.at_least_s", "payload.per_second")


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_a_requester_refuses_a_number_that_is_none(language: Implementation, case: str, tmp_path: Path) -> None:
    place = list(NO_NUMBERS).index(case)  # each case has other keys, as a start of a program takes its time
    takes_fractions = case in ("with a point", "with an exponent")
    for path in (WHOLE[place % len(WHOLE)], *(() if takes_fractions else (ANY[place % len(ANY)],))):
        line = trial(language, 1, tmp_path / "record", payload={}, target={"host": "127.0.0.1", "port": 1})
        *above, last = path.split(".")
        part = line
        for key in above:
            part = part[key]
        part[last] = "@"
        text = text_of(line).replace(b'"@"', NO_NUMBERS[case].encode())
        failed(answer(language, "request", text), "trial", *NAMED_IN_JSON.get(case, (last,)))


IMPOSSIBLE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "an operation that is not carried": ({"operation": "feed"}, ("feed",)),
    "no target": ({"target": None}, ("target",)),
    "a target without a port": ({"target": {"host": "127.0.0.1"}}, ("port",)),
    "an unknown connection policy": ({"connection": "sometimes"}, ("connection",)),
    "an unknown payload": ({"payload": {"kind": "magic"}}, ("payload.kind",)),
    "no payload": ({"operation": "echo"}, ("echo",)),
    "a load that is null": ({"load": None}, ("load",)),
    "a tiny rate": ({"load": {"requests": 1, "rate_per_s": 1e-9}}, ("rate",)),
    "the smallest rate": ({"load": {"requests": 1, "rate_per_s": 5e-324}}, ("rate",)),
    "a huge rate": ({"load": {"requests": 1, "rate_per_s": 1e12}}, ("rate_per_s",)),
    "a rate and think time": ({"load": {"duration_s": 1, "rate_per_s": 10, "think_s": 1}}, ("think time",)),
    "an unknown arrival": ({"load": {"requests": 1, "rate_per_s": 10, "arrivals": "late"}}, ("load.arrivals",)),
    "a mix without a weight": ({"mix": [{"operation": "add"}, {"operation": "timestamp", "weight": 1}]}, ("weight",)),
    "a weight of 0": (
        {"mix": [{"operation": "add", "weight": 0}, {"operation": "timestamp", "weight": 1}]},
        ("weight",),
    ),
    "a mix that is null": ({"mix": None}, ("mix",)),
    "a session of kept connections": ({"knobs": {"session": "resumed", "tls": "tls1.3"}}, ()),
    "a picture that is not there": (
        {"operation": "image", "payload": {"kind": "image", "path": "/nowhere.png", "sha256": "0" * 64}},
        ("/nowhere.png",),
    ),
    "a picture that is another one": (
        {"operation": "image", "payload": {"kind": "image", "path": __file__, "sha256": "0" * 64}},
        (__file__,),
    ),
    "a picture that is a folder": (
        {"operation": "image", "payload": {"kind": "image", "path": "/", "sha256": "0" * 64}},
        ("/",),
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_a_requester_refuses_what_cannot_be_asked(language: Implementation, case: str, tmp_path: Path) -> None:
    changes, named = IMPOSSIBLE[case]
    with Server(WIRES["tcp"], IDENTITY) as server:
        line = trial(language, server.port, tmp_path / "record") | changes
        came = answer(language, "request", text_of(line))
    failed(came, "trial", *named)
    assert server.asked == []


CANNOT_SERVE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "an operation that is no text": ({"operations": ["add", 7]}, ("operations",)),
    "a host that is not here": ({"host": "198.18.99.99"}, ("198.18.99.99",)),
    "a host that is no address": ({"host": "256.1.1.1.invalid"}, ("256.1.1.1.invalid",)),
    "a host with a zero in it": ({"host": "a\0b"}, ()),
}


@pytest.mark.parametrize("case", CANNOT_SERVE)
def test_a_responder_refuses_what_it_cannot_do(language: Implementation, case: str) -> None:
    changes, named = CANNOT_SERVE[case]
    refused_to_serve(answer(language, "respond", text_of(serve(language) | changes)), *named)
