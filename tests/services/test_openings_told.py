"""Who tells how long connections took to open, from a trial to its `done` line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load
from tests.support.certificates import TLS, Made
from tests.support.ends import make_trial, responder, trial_of
from tests.support.matrix import others_slow

REQUESTS = 12
TELLS_BOTH = [
    ("tcp", "socket"),
    ("tcp", "uvloop"),
    ("http+json", "raw"),
    ("http+json", "pycurl"),
    ("http+json", "pycurl-multi"),
]
TELLS_TLS_ALONE = [
    ("http+json", "requests"),
    ("http+json", "httpx"),
    ("http+json", "aiohttp"),
    ("websocket", "websocket-client"),
]
LIGHT = [("tcp", "socket"), ("http+json", "pycurl")]


def told(protocol: str, client: str, made: Made | None, folder: Path, **changes: Any) -> dict[str, Any] | None:
    """What the trial's `done` says of opening."""
    with responder(protocol, **({} if made is None else made.serving)) as (_, ready):
        asked: dict[str, Any] = {"load": Load(requests=REQUESTS), "connection": "per-request", **changes}
        asked |= {} if made is None else {"knobs": TLS, "tls": made.authority}
        done = make_trial(trial_of(protocol, client, ready["port"], folder / "record", **asked))[-1]
    assert done["type"] == "done", done
    return done.get("opening")


@pytest.mark.parametrize(("protocol", "client"), others_slow(TELLS_BOTH, lambda *case: case in LIGHT))
def test_each_connection_of_the_measured_phase_is_told_with_both_handshakes(
    protocol: str, client: str, made: Made, tmp_path: Path
) -> None:
    plain = told(protocol, client, None, tmp_path)
    assert (plain["connections"], plain["tls_s"]) == (REQUESTS, None)
    assert plain["connect_s"] > 0
    secured = told(protocol, client, made, tmp_path)
    assert secured["connections"] == REQUESTS
    assert min(secured["tls_s"], secured["connect_s"]) > 0


def test_kept_connections_are_noted_where_several_requests_are_in_flight(tmp_path: Path) -> None:
    load = Load(requests=REQUESTS, concurrency=2)
    kept = told("http+json", "pycurl", None, tmp_path, connection="reuse", load=load)
    assert kept["connections"] in (1, 2)  # one of two threads may make all requests: pycurl connects at the first one


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "client"), TELLS_TLS_ALONE)
def test_libraries_on_pythons_ssl_tell_of_tls_alone(protocol: str, client: str, made: Made, tmp_path: Path) -> None:
    assert told(protocol, client, None, tmp_path) is None
    secured = told(protocol, client, made, tmp_path)
    assert (secured["connections"], secured["connect_s"]) == (REQUESTS, None)
    assert secured["tls_s"] > 0
