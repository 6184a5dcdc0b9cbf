"""`http: 2` and `http: 3`: both ends speak it to each other, and a responder that is told so answers nothing else."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from tests.conformance.certificates import Made, assert_believes_nobody_else, certificates
from tests.conformance.kit import Implementation

pytestmark = pytest.mark.busy

TWO = {"http": "2"}
THREE = {"http": "3", "tls": "tls1.3"}
SETTINGS = 4  # the type of a frame
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, SETTINGS, 0, 0, 0, 0, 0))
OLDER = b"POST /identity HTTP/1.1\r\nHost: orch\r\nContent-Length: 0\r\n\r\n"


def answer(port: int, sent: bytes) -> bytes:
    """The first bytes that come back; fewer than nine where the connection ended before."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        came = b""
        with contextlib.suppress(ConnectionError):
            while len(came) < 9 and (more := connection.recv(9 - len(came))):
                came += more
        return came


def test_both_ends_meet_over_http_2(ends: Implementation, version_pair: tuple[str, str, str], tmp_path: Path):
    protocol, implementation, client = version_pair
    with ends.respond(protocol, implementation, knobs=TWO) as responder:
        port = responder.ready["port"]
        asked = {"operation": "echo", "payload": {"kind": "records", "count": 5}}
        trial = ends.request(ends.trial(protocol, client, port, tmp_path / "record", knobs=TWO, **asked))
        assert responder.stats()["answered"] == 13 + 2
        assert answer(port, PREFACE)[3] == SETTINGS
        assert not answer(port, OLDER).startswith(b"HTTP/1")
    assert (trial.done["requests"], trial.done["verified"], trial.done["errors"]) == (10, 10, {})


def test_who_is_told_nothing_speaks_http_1_1(ends: Implementation, version_pair: tuple[str, str, str]):
    protocol, implementation, _ = version_pair
    with ends.respond(protocol, implementation) as responder:
        assert answer(responder.ready["port"], OLDER).startswith(b"HTTP/1.1 ")
        assert answer(responder.ready["port"], PREFACE)[3:4] != bytes((SETTINGS,))


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return certificates(tmp_path / "right")


@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_both_ends_meet_over_http_3(
    ends: Implementation, quic_pair: tuple[str, str, str], connection: str, made: Made, tmp_path: Path
):
    protocol, implementation, client = quic_pair
    with ends.respond(protocol, implementation, knobs=THREE, tls=made.serving) as responder:
        port = responder.ready["port"]
        told = {"operation": "echo", "payload": {"kind": "records", "count": 200}, "connection": connection}
        trial = ends.request(
            ends.trial(protocol, client, port, tmp_path / "record", knobs=THREE, tls=made.trusted, **told)
        )
        stats = responder.stats()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
    done, asked = trial.done, 13 if connection == "per-request" else 1
    assert (done["requests"], done["verified"], done["errors"]) == (10, 10, {})
    assert (stats["answered"], stats["peers"]) == (13 + 2, asked + 2)
    assert (done["tls"]["version"], done["tls"]["handshakes"], done["tls"]["resumed"]) == ("TLSv1.3", asked + 2, 0)
    # Nothing of it is TCP's: what the kernel says of that is of other connections.
    assert (done["wire"], done["min_rtt_us"]) == (None, None)
    assert "congestion control" not in {**done["settings"], **responder.ready["settings"]}
    assert done["opening"]["connect_s"] is None
    assert done["opening"]["tls_s"] > 0


def test_several_requests_share_a_connection_of_http_3(
    ends: Implementation, quic_pair: tuple[str, str, str], made: Made, tmp_path: Path
):
    knobs = {**THREE, "connections": "2"}
    load, serve = {"requests": 60, "concurrency": 6}, {"knobs": knobs, "tls": made.serving}
    trial, stats = ends.meet(quic_pair, tmp_path / "record", serve=serve, knobs=knobs, tls=made.trusted, load=load)
    assert stats["peers"] == 2 + 2
    assert (trial.done["verified"], trial.done["errors"]) == (60, {})
    assert len({row.connection for row in trial.phase(1)}) == 2


def test_a_session_is_resumed_over_http_3(
    ends: Implementation, quic_pair: tuple[str, str, str], made: Made, tmp_path: Path
):
    knobs = {**THREE, "session": "resumed"}
    told = {"knobs": knobs, "tls": made.trusted, "connection": "per-request"}
    trial, _ = ends.meet(quic_pair, tmp_path / "record", serve={"knobs": knobs, "tls": made.serving}, **told)
    assert (trial.done["verified"], trial.done["tls"]["resumed"]) == (10, 14)


def test_nobody_is_believed_over_http_3_whom_the_authority_does_not_vouch_for(
    ends: Implementation, quic_pair: tuple[str, str, str], made: Made
):
    assert_believes_nobody_else(ends, quic_pair, THREE, made)


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"http": "3"}, "tls"),
        ({**THREE, "congestion": "cubic"}, "congestion"),
        ({**THREE, "nodelay": "nagle"}, "nodelay"),
        ({**THREE, "tcp_window": "65536"}, "tcp_window"),
        ({**THREE, "flow_window": "65536"}, "flow_window"),
    ],
)
def test_http_3_without_tls_and_with_what_is_of_tcp_is_refused(
    ends: Implementation, quic_pair: tuple[str, str, str], knobs: dict[str, str], named: str, made: Made, tmp_path: Path
):
    protocol, implementation, client = quic_pair
    secured = "tls" in knobs
    serve = {"implementation": implementation, "knobs": knobs, **({"tls": made.serving} if secured else {})}
    assert named in ends.refusal(protocol, **serve)
    told = {"knobs": knobs, **({"tls": made.trusted} if secured else {})}
    trial = ends.request(ends.trial(protocol, client, 9, tmp_path / "record", **told))
    assert trial.failed["kind"] == "trial"
    assert named in trial.failed["message"]
