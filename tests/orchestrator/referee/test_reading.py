"""What load generators printed (`printed/`: of wrk 4.1.0, oha 1.16.0, ghz 0.121.0, but for paths), and what is none."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.referee import ghz, oha, wrk
from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.generators import TOOLS
from orchestrator.referee.readings import Figures, Unreadable, require_answered, require_possible

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


def changed(name: str, change: Callable[[dict[str, Any]], object]) -> str:
    report = json.loads(printed(name))
    change(report)
    return json.dumps(report)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(count=r["count"] + 1),
        lambda r: r["details"].pop(),
        lambda r: r["details"][0].update(latency=-5),
        lambda r: r["details"][0].update(latency="5"),
        lambda r: r["statusCodeDistribution"].update(OK=-3),
        lambda r: r.pop("errorDistribution"),
        lambda r: r.update(details=[]),
    ],
)
def test_a_report_of_ghz_that_contradicts_itself_gives_no_figures(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(Unreadable):
        ghz.read(changed("ghz_right", change), IN_FLIGHT)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["statusCodeDistribution"].update({"200": 1_018}),
        lambda r: r["statusCodeDistribution"].update({"200": -1}),
        lambda r: r["errorDistribution"].update({"aborted": 1}),
        lambda r: r["latencyPercentiles"].update(p50=None),
        lambda r: r["latencyPercentiles"].pop("p50"),
        lambda r: r["latencyPercentiles"].pop("p99"),
        lambda r: r["summary"].update(total="1"),
        lambda r: r.pop("summary"),
    ],
)
def test_a_report_of_oha_that_contradicts_itself_gives_no_figures(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(Unreadable):
        oha.read(changed("oha_right", change), IN_FLIGHT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"requests": 53', '"requests": 54'),
        ('"requests": 53', '"requests": 1'),
        ('"duration_us": 1071525', '"duration_us": 0'),
        ('"duration_us": 1071525', '"duration_us": -5'),
    ],
)
def test_a_report_of_wrk_that_contradicts_itself_gives_no_figures(old: str, new: str) -> None:
    assert old in printed("wrk_right")
    with pytest.raises(Unreadable):
        wrk.read(printed("wrk_right").replace(old, new), IN_FLIGHT)


def test_what_wrk_adds_for_requests_it_did_not_send_is_taken_away() -> None:
    # At a mean of 10, wrk enters for one latency of 45 also 35, 25 and 15: none of them was measured.
    assert wrk.as_measured({9: 50, 10: 50, 15: 1, 25: 1, 35: 1, 45: 1}, 10) == {9: 50, 10: 50, 45: 1}


GOOD = Figures(requests=1_000, window_s=3.0, median_ns=5_000_000)


@pytest.mark.parametrize(
    "figures",
    [
        Figures(requests=0, window_s=3.0, median_ns=5e6),
        Figures(requests=1_000, window_s=3.0, median_ns=0),
        Figures(requests=1_000, window_s=3.0, median_ns=-5e6),
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
    written = ghz.files(Asked(path="x.Y/Z", bodies=bodies))[ghz.MESSAGES]
    found = []
    while written:
        size, place = 0, 0
        while True:
            size |= (written[place] & 0x7F) << 7 * place
            place += 1
            if written[place - 1] < 0x80:
                break
        found.append(written[place : place + size])
        written = written[place + size :]
    assert tuple(found) == bodies


TURN = Turn(host="127.0.0.1", port=1, in_flight=8, connections=4, window_s=3, folder=PurePosixPath("/run"))


def test_a_new_connection_for_each_request_and_tls_are_told_to_oha() -> None:
    told = oha.argv(
        "oha", Asked(path="/add", bodies=(b"",)), Turn(**{**vars(TURN), "keeps": False, "authority": "/ca"})
    )
    assert "--disable-keepalive" in told
    assert told[told.index("--cacert") + 1] == "/ca"
    assert told[-1] == "https://127.0.0.1:1/add"


def test_oha_is_given_bodies_that_differ_as_lines_and_no_others() -> None:
    asked = Asked(path="/add", bodies=(b'{"a":1}', b"", '{"ä":2}'.encode()))
    assert oha.files(asked)[oha.BODY] == '{"a":1}\n\n{"ä":2}\n'.encode()
    assert "-Z" in oha.argv("oha", asked, TURN)
    assert oha.files(Asked(path="/", bodies=(b"\xff\n",)))[oha.BODY] == b"\xff\n"
    for body in (b"two\nlines", b"\xff", b"end\r"):
        with pytest.raises(Unreadable):
            oha.files(Asked(path="/add", bodies=(b"one", body)))


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed (make referee)")
@pytest.mark.busy
def test_wrk_takes_the_script_and_asks_with_every_body(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    seen: set[tuple[str, bytes, str | None]] = set()

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.add((self.path, body, self.headers["X-One"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    bodies = (bytes(range(256)), b"", b"third")
    asked = Asked(path="/some?way=1", method="PUT", bodies=bodies, fields={"X-One": 'a "b"'})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        turn = Turn(
            host="127.0.0.1",
            port=server.server_port,
            in_flight=2,
            connections=2,
            window_s=1,
            folder=PurePosixPath(tmp_path),
        )
        for name, content in wrk.files(asked).items():
            (tmp_path / name).write_bytes(content)
        said = subprocess.run(wrk.argv("wrk", asked, turn), capture_output=True, text=True, check=True, timeout=60)
    finally:
        server.shutdown()
        server.server_close()
    assert wrk.read(said.stdout, 2).requests >= 3
    assert seen == {("/some?way=1", body, 'a "b"') for body in bodies}
