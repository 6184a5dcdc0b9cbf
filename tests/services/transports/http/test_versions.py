"""`http: 1.1 | 2`, from the plan to the wire: who speaks which, what is refused, and that no other version is taken."""

from __future__ import annotations

from typing import Any

import pycurl
import pytest

from services.python.contract.lines import Payload, Trial
from services.python.contract.offers import protocols
from services.python.load.client import CallFailed
from services.python.transports.http import httpx_client, pycurl_client, version
from services.python.trial.parts import CannotTry, load_parts
from tests.support import wire
from tests.support.ends import checked, program, responder, trial_of
from tests.support.servers import tapped

pytestmark = pytest.mark.busy

TWO = {"http": "2"}
REFUSED = "http: 2"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
RESPONDERS = [(name, r.name) for name in wire.HTTP for r in protocols()[name].responders if REFUSED not in r.refuses]
LIGHT = ("http+json", "connect")  # how a version is spoken is the transport's
ENDS = [pytest.param(*ends, marks=() if ends[0] in LIGHT else pytest.mark.slow) for ends in RESPONDERS]
CLIENTS = [c.name for c in protocols()["rest"].clients if REFUSED not in c.refuses]
OTHERS = [c.name for c in protocols()["rest"].clients if REFUSED in c.refuses]


def checking(protocol: str, client: str, port: int, told: dict[str, str], **changes: Any) -> Trial:
    """A trial that asks once, and looks at the reply."""
    return trial_of(
        protocol, client, port, operation="echo", payload=Payload(kind="bytes", size=1000), knobs=told, **changes
    )


@pytest.mark.parametrize(("protocol", "implementation"), ENDS)
def test_the_version_on_the_wire_is_the_one_that_was_asked_for(protocol: str, implementation: str) -> None:
    counted = set()
    for told in ({}, TWO):
        with responder(protocol, implementation=implementation, knobs=told) as (_, ready):
            for client in CLIENTS:
                with tapped(ready["port"]) as tap:
                    counted.add(checked(checking(protocol, client, tap.port, told))[1])
                assert tap.sent.startswith(PREFACE if told else b"POST /"), client
                assert tap.received.startswith(b"HTTP/1.1 200") is not bool(told), client
    assert len(counted) == 1, "bodies have the same size, whatever frames are around them"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_of_the_other_version_is_found(client: str) -> None:
    for serves, asks in ((TWO, {}), ({}, TWO)):
        with (
            responder("http+json", implementation="asgi-granian", knobs=serves) as (_, ready),
            pytest.raises((CannotTry, CallFailed)),
        ):
            checked(checking("http+json", client, ready["port"], asks, timeout_s=5))


def test_a_client_that_falls_back_to_another_version_fails_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libraries do unless they are told otherwise: ask for an upgrade, or offer both, and take what comes."""
    _, expected = pycurl_client._VERSIONS[version.TWO]
    monkeypatch.setitem(pycurl_client._VERSIONS, version.TWO, (pycurl.CURL_HTTP_VERSION_2_0, expected))
    options = httpx_client._options

    def offering_both(*given: Any) -> dict[str, Any]:
        return {**options(*given), "http1": True}

    monkeypatch.setattr(httpx_client, "_options", offering_both)
    with responder("http+json", implementation="asgi") as (_, ready):
        for client in CLIENTS:
            with pytest.raises(CannotTry, match=r"the reply came over HTTP/1\.1, and HTTP/2 was asked for") as failed:
                checked(checking("http+json", client, ready["port"], TWO))
            assert failed.value.kind == "protocol"


def test_an_end_that_speaks_http_1_1_alone_refuses_to_be_told_otherwise() -> None:
    with program("services.python.programs.respond") as started:
        from services.python.contract.responder_lines import Serve

        started.send(Serve(protocol="rest", implementation="starlette", identity="nonce", knobs=TWO).to_json())
        status, lines, words = started.ended_by_itself()
    assert (status, lines) == (1, [])
    assert "rest's starlette cannot do http: 2: uvicorn speaks HTTP/1.1 alone; starlette-granian speaks both" in words
    for client in OTHERS:
        with pytest.raises(CannotTry, match=f"rest's {client} cannot do http: 2: .* speaks HTTP/1.1 alone"):
            load_parts(checking("rest", client, 1, TWO))
