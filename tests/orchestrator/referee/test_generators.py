"""Load generators that are used, and what they wrote read back."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from orchestrator.hosts.load_generators import look
from orchestrator.referee import ghz, oha, recorded, wrk
from orchestrator.referee.exchange import Exchange, Figures, Turn, Unreadable, require_answered, require_possible
from orchestrator.referee.generators import GHZ, OHA, TOOLS, WRK, Tool, version_of
from orchestrator.referee.recorded import NotRecorded


def program(folder: Path, name: str, says: str, status: int = 0, more: str = "") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n# {more}\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("tool", "printed", "version"),
    [
        (WRK, "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>", "4.1.0"),
        (WRK, "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer", "4.2.0"),
        (OHA, "oha 1.16.0", "1.16.0"),
        (GHZ, "v0.121.0", "0.121.0"),
        (GHZ, "dev", ""),
        (WRK, "", ""),
        (OHA, "no version at all", ""),
    ],
)
def test_the_version_is_read_from_what_it_prints(tool: Tool, printed: str, version: str) -> None:
    assert version_of(tool, printed) == version


def test_ghz_0_120_is_refused_by_name_and_version(tmp_path: Path) -> None:
    path = program(tmp_path, "ghz", "v0.120.0")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"
    program(tmp_path, "ghz", "dev", more="mod\tgithub.com/bojand/ghz\tv0.120.0\th1:x")
    assert look(GHZ, tmp_path).why == f"{path} is ghz 0.120.0, older than 0.121.0"


def test_one_that_is_missing_or_cannot_be_started_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert look(WRK, tmp_path).why == "there is no wrk in build/referee or on the PATH"
    (tmp_path / "wrk").write_text("not a program")
    (tmp_path / "wrk").chmod(0o755)
    assert "cannot be asked for its version" in look(WRK, tmp_path).why


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def post(body: bytes, path: str = "/add", more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX-One: a\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return len(content).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + content


def message(body: bytes, packed: int = 0) -> bytes:
    return bytes([packed]) + len(body).to_bytes(4) + body


def test_the_requests_of_the_connection_with_the_most_are_taken() -> None:
    exchange = recorded.http([post(b"check", path="/identity"), post(b"one") + post(b"two")])
    assert (exchange.path, exchange.method, exchange.fields) == ("/add", "POST", {"X-One": "a"})
    assert exchange.bodies == (b"one", b"two")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /add HTTP/1.0\r\n\r\n",
        PREFACE,
        post(b"one") + post(b"two", path="/other"),
        post(b"one") + post(b"two", more="X-Two: b\r\n"),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_what_no_load_generator_could_send_alike_is_refused(sent: bytes) -> None:
    with pytest.raises(NotRecorded):
        recorded.http([sent])


def test_messages_of_grpc_are_read_from_their_frames() -> None:
    sent = PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, b"headers") + frame(0, 1, 1, message(b"one"))
    sent += frame(1, 4, 3, b"headers") + frame(0, 0, 3, message(b"two")[:4]) + frame(0, 1, 3, message(b"two")[4:])
    exchange = recorded.grpc([PREFACE + frame(0, 1, 1, message(b"identity")), sent], "orch.v1.Orch/Add")
    assert (exchange.path, exchange.bodies) == ("orch.v1.Orch/Add", (b"one", b"two"))


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\n\r\n",
        PREFACE,
        PREFACE + frame(0, 1, 1, message(b"packed", packed=1)),
        PREFACE + frame(0, 1, 1, message(b"one") + message(b"two")),
        PREFACE + frame(0, 1, 1, b""),
        PREFACE + frame(0, 1, 1, message(b"cut"))[:-1],
    ],
)
def test_what_is_no_plain_unary_message_is_refused(sent: bytes) -> None:
    with pytest.raises(NotRecorded):
        recorded.grpc([sent], "a.B/C")


PRINTED = Path(__file__).parent / "printed"
IN_FLIGHT = 2


def printed(name: str) -> str:
    return (PRINTED / f"{name}.txt").read_text()


RIGHT = {
    "wrk_right": Figures(requests=53, window_s=1.071525, median_ns=27_733_000.0),
    "wrk_in_turn": Figures(requests=57, window_s=1.103745, median_ns=12_802_000.0),
    "oha_right": Figures(requests=1_019, window_s=1.006651186, median_ns=167_389.0),
    "oha_in_turn": Figures(requests=942, window_s=1.008171454, median_ns=257_124.0),
    "ghz_right": Figures(requests=3, window_s=1.023611345, median_ns=832_604_714),
    "ghz_in_turn": Figures(requests=10, window_s=1.024557095, median_ns=160_432_681.5),
}


@pytest.mark.parametrize(("name", "figures"), RIGHT.items())
def test_a_real_report_is_read(name: str, figures: Figures) -> None:
    assert TOOLS[name.partition("_")[0]].read(printed(name), IN_FLIGHT) == figures


@pytest.mark.parametrize("name", sorted(path.stem for path in PRINTED.glob("*_wrong_status.txt")))
def test_a_report_with_requests_that_failed_gives_no_figures(name: str) -> None:
    with pytest.raises(Unreadable, match="requests failed"):
        TOOLS[name.partition("_")[0]].read(printed(name), IN_FLIGHT)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "\norch {}\n", "\norch 1\n", "{" * 100_000, "\x00\ufffd"])
def test_what_is_no_report_is_said_to_be_none(tool: str, text: str) -> None:
    with pytest.raises(Unreadable):
        TOOLS[tool].read(text, IN_FLIGHT)


def changed(name: str, path: str, value: object) -> str:
    """A report with another value at a place."""
    report = json.loads(printed(name))
    *outer, last = path.split(".")
    place = report
    for part in outer:
        place = place[int(part) if isinstance(place, list) else part]
    place[last] = value
    return json.dumps(report)


CONTRADICTIONS = [
    *(
        ("ghz", changed("ghz_right", path, value))
        for path, value in [
            ("count", 4),
            ("statusCodeDistribution.OK", -3),
            ("errorDistribution", None),
            ("details", []),
        ]
    ),
    *(
        ("oha", changed("oha_right", path, value))
        for path, value in [
            ("statusCodeDistribution.200", 1_018),
            ("errorDistribution.aborted", 1),
            ("latencyPercentiles.p50", None),
            ("summary", {"total": "1"}),
        ]
    ),
    *(
        ("wrk", printed("wrk_right").replace(old, new))
        for old, new in [
            ('"requests": 53', '"requests": 54'),
            ('"duration_us": 1071525', '"duration_us": 0'),
        ]
    ),
]


@pytest.mark.parametrize(("tool", "text"), CONTRADICTIONS)
def test_a_report_that_contradicts_itself_gives_no_figures(tool: str, text: str) -> None:
    assert text != printed(f"{tool}_right")
    with pytest.raises(Unreadable):
        TOOLS[tool].read(text, IN_FLIGHT)


def test_what_wrk_adds_for_requests_it_did_not_send_is_taken_away() -> None:
    # At a mean of 10, wrk enters for one latency of 45 also 35, 25 and 15: none of them was measured.
    assert wrk.as_measured({9: 50, 10: 50, 15: 1, 25: 1, 35: 1, 45: 1}, 10) == {9: 50, 10: 50, 45: 1}


GOOD = Figures(requests=1_000, window_s=3.0, median_ns=5_000_000)


@pytest.mark.parametrize(
    "figures",
    [
        Figures(requests=0, window_s=3.0, median_ns=5e6),
        Figures(requests=1_000, window_s=3.0, median_ns=0),
        Figures(requests=1_000, window_s=3.0, median_ns=float("nan")),
        Figures(requests=1_000, window_s=float("inf"), median_ns=5e6),
        Figures(requests=1_000, window_s=1.0, median_ns=1e6),  # it was told three
        Figures(requests=1_000, window_s=4.0, median_ns=5e6),  # longer than its process lived
        Figures(requests=1_000, window_s=3.0, median_ns=14e6),  # half of them would take 7 s of 6
    ],
)
def test_figures_that_cannot_be_are_refused(figures: Figures) -> None:
    require_possible(GOOD, in_flight=2, window_s=3, elapsed_s=3.2)
    with pytest.raises(Unreadable):
        require_possible(figures, in_flight=2, window_s=3, elapsed_s=3.2)


@pytest.mark.parametrize(("answered", "is_right"), [(999, False), (1_000, True), (1_002, True), (1_003, False)])
def test_a_count_is_held_against_what_the_responder_answered(answered: int, is_right: bool) -> None:
    if is_right:
        require_answered(GOOD, answered, in_flight=2)
        return
    with pytest.raises(Unreadable, match=f"counts 1000 requests, the responder answered {answered}"):
        require_answered(GOOD, answered, in_flight=2)


def test_a_message_stands_after_its_length() -> None:
    bodies = (b"", b"a" * 127, b"b" * 128, b"c" * 70_000)
    written = ghz.files(Exchange(path="x.Y/Z", bodies=bodies))[ghz.MESSAGES]
    chunks = []
    while written:
        size, place = 0, 0
        while True:
            size |= (written[place] & 0x7F) << 7 * place
            place += 1
            if written[place - 1] < 0x80:
                break
        chunks.append(written[place : place + size])
        written = written[place + size :]
    assert tuple(chunks) == bodies


TURN = Turn(host="127.0.0.1", port=1, in_flight=8, connections=4, window_s=3, folder=PurePosixPath("/run"))


def test_a_new_connection_for_each_request_and_tls_are_told_to_oha() -> None:
    command = oha.argv(
        "oha", Exchange(path="/add", bodies=(b"",)), Turn(**{**vars(TURN), "keeps": False, "authority": "/ca"})
    )
    assert "--disable-keepalive" in command
    assert command[command.index("--cacert") + 1] == "/ca"
    assert command[-1] == "https://127.0.0.1:1/add"


def test_oha_is_given_bodies_that_differ_as_lines_and_no_others() -> None:
    exchange = Exchange(path="/add", bodies=(b'{"a":1}', b"", '{"ä":2}'.encode()))
    assert oha.files(exchange)[oha.BODY] == '{"a":1}\n\n{"ä":2}\n'.encode()
    assert "-Z" in oha.argv("oha", exchange, TURN)
    assert oha.files(Exchange(path="/", bodies=(b"\xff\n",)))[oha.BODY] == b"\xff\n"
    for body in (b"two\nlines", b"\xff", b"end\r"):
        with pytest.raises(Unreadable):
            oha.files(Exchange(path="/add", bodies=(b"one", body)))
