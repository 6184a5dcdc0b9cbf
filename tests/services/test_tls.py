"""`tls: tls1.3` and `session`: every client against every kind of server, what passes on the wire, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.python.contract.lines import Authority, Load, Payload, Warmup
from services.python.contract.offers import Client, protocols
from services.python.trial.parts import CannotTry, Parts
from tests.support.certificates import RESUMED, TLS, Made, certificates
from tests.support.ends import checked, make_trial, responder, trial_of
from tests.support.matrix import others_slow
from tests.support.servers import tapped

NONCE = "a-nonce-that-anybody-could-read"
# One responder of each server; all others of a protocol stand on the same one.
SERVERS = [
    ("tcp", "threads"),
    ("http+cbor", "asgi"),
    ("connect", "asgi-granian"),
    ("rest", "flask"),
    ("rest", "flask-gunicorn"),
    ("websocket", "uvicorn"),
    ("socketio", "python-socketio"),
    ("sse", "uvicorn"),
    ("grpc", "grpcio"),
    ("grpc", "grpc-aio"),
]


def clients(protocol: str) -> list[Client]:
    """Those that ask, and that have TLS."""
    return [c for c in protocols()[protocol].clients if c.kind == "call" and "tls" not in c.refuses]


def asked(protocol: str, client: str, port: int, authority: Authority | None, knobs: dict[str, str]) -> Parts:
    """The check of a trial, which asks two questions on a connection each."""
    is_stream = protocols()[protocol].streams == "alone"
    trial = trial_of(
        protocol,
        client,
        port,
        identity=NONCE,
        operation="events" if is_stream else "add",
        payload=Payload(kind="events", size=10, per_second=100.0) if is_stream else Payload(),
        connection="reuse" if is_stream or "session" not in knobs else "per-request",
        knobs=knobs,
        tls=authority,
        timeout_s=10.0,
    )
    return checked(trial)[0]


def ask_all(protocol: str, implementation: str, made: Made, others: Authority) -> None:
    """Every client of the protocol: right, with the wrong authority, and with resumed sessions where it has them."""
    has_sessions = "session" in protocols()[protocol].knobs
    with responder(protocol, NONCE, implementation=implementation, **made.serving) as (_, ready):
        for client in clients(protocol):
            with tapped(ready["port"]) as tap:
                told = asked(protocol, client.name, tap.port, made.authority, TLS).who()["tls"]
            assert NONCE.encode() not in tap.sent + tap.received, client.name
            assert len(tap.received) > 500, client.name
            if protocol == "grpc":
                assert (told.version, told.cipher, told.handshakes, told.resumed) == (None,) * 4
            else:
                assert (told.version, told.cipher.partition("_")[0]) == ("TLSv1.3", "TLS"), client.name
            with pytest.raises(CannotTry, match=r"refused: tls: .*(certificate|CERTIFICATE)") as refused:
                asked(protocol, client.name, ready["port"], others, TLS)
            assert refused.value.kind == "refused", client.name
            if has_sessions:
                parts = asked(protocol, client.name, ready["port"], made.authority, RESUMED)
                assert parts.tls.has_resumed, client.name


@pytest.mark.parametrize(
    ("protocol", "implementation"),
    others_slow(SERVERS, lambda *server: server in [("tcp", "threads"), ("http+cbor", "asgi")]),
)
def test_every_client_speaks_tls_with_every_server_and_refuses_another_authority(
    protocol: str, implementation: str, made: Made, tmp_path: Path
) -> None:
    ask_all(protocol, implementation, made, certificates(tmp_path / "others").authority)


TWO = {"http": "2"}
VERSIONS = [client.name for client in clients("http+json") if "http: 2" not in client.refuses]
H2, OLDER = (bytes((len(name),)) + name for name in (b"h2", b"http/1.1"))  # as ALPN writes them (RFC 7301, 3.1)


@pytest.mark.parametrize("told", [{}, TWO], ids=["1.1", "2"])
def test_the_version_of_http_is_negotiated_in_the_handshake_and_no_other_is_taken(
    told: dict[str, str], made: Made, tmp_path: Path
) -> None:
    others, serving = certificates(tmp_path / "others").authority, {**made.serving, "knobs": {**TLS, **told}}
    with responder("http+json", NONCE, implementation="asgi-granian", **serving) as (_, ready):
        for client in VERSIONS:
            with tapped(ready["port"]) as tap:
                told_of = asked("http+json", client, tap.port, made.authority, {**TLS, **told}).who()["tls"]
            assert told_of.version == "TLSv1.3", client
            assert (H2 in tap.sent, OLDER in tap.sent) == (bool(told), not told or client.startswith("httpx")), client
            parts = asked("http+json", client, ready["port"], made.authority, {**RESUMED, **told})
            assert parts.tls.has_resumed, client
            with pytest.raises(CannotTry, match=r"refused: tls: .*certificate"):
                asked("http+json", client, ready["port"], others, {**TLS, **told})
            with pytest.raises(CannotTry):
                asked("http+json", client, ready["port"], made.authority, {**TLS, **({} if told else TWO)})


@pytest.mark.busy
@pytest.mark.parametrize("client", ["raw", "httpx-async"])
def test_several_in_flight_resume_a_session_each_where_a_server_takes_none_twice(
    client: str, made: Made, tmp_path: Path
) -> None:
    with responder("http+json", NONCE, implementation="asgi-granian", **made.serving) as (_, ready):
        trial = trial_of(
            "http+json",
            client,
            ready["port"],
            tmp_path / "record",
            identity=NONCE,
            connection="per-request",
            load=Load(requests=100, concurrency=4),
            warmup=Warmup(requests=20, at_least_s=0),
            knobs=RESUMED,
            tls=made.authority,
        )
        done = make_trial(trial)[-1]
    assert done["type"] == "done", done
    assert done["tls"]["resumed"] > 0.85 * done["tls"]["handshakes"] > 100


@pytest.mark.parametrize("client", VERSIONS)
def test_a_server_that_negotiates_no_version_is_not_taken_for_one_of_http_2(client: str, made: Made) -> None:
    with (
        responder("http+json", NONCE, implementation="asgi", **made.serving) as (_, ready),
        pytest.raises(CannotTry, match=r"before measuring: (protocol|undecodable|closed|refused|timeout)"),
    ):
        asked("http+json", client, ready["port"], made.authority, {**TLS, **TWO})


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("websocket", "socketio", "sse", "graphqlws", "grpc")]


@pytest.mark.parametrize("protocol", ["tcp", "http+cbor", *SLOW])
def test_a_certificate_for_another_address_is_refused_by_every_client(protocol: str, tmp_path: Path) -> None:
    wrong = certificates(tmp_path / "wrong", address="198.18.0.1")
    implementation = "asgi" if protocol == "http+cbor" else None
    with responder(protocol, NONCE, implementation=implementation, **wrong.serving) as (_, ready):
        for client in clients(protocol):
            with pytest.raises(
                CannotTry, match=r"refused: tls: .*([Mm]ismatch|match|peer certificate|verif)"
            ) as refused:
                asked(protocol, client.name, ready["port"], wrong.authority, TLS)
            assert refused.value.kind == "refused", client.name
