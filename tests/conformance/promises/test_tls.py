"""What `protos/process.md` promises of TLS, of ends that have it, and of those that have not."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.certificates import Made, assert_believes_nobody_else, certificates
from tests.conformance.kit import Implementation

pytestmark = pytest.mark.busy

KNOBS = {"tls": "tls1.3"}


def has_tls(protocol: dict[str, Any], client: str = "") -> bool:
    """Whether the implementation says that its first responder can be told so, and that the client does not refuse it."""
    refuses = next((one.get("refuses", {}) for one in protocol["clients"] if one["name"] == client), {})
    return "tls1.3" in protocol["responders"][0].get("knobs", {}).get("tls", ()) and not {"tls", "tls: tls1.3"} & set(
        refuses
    )


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return certificates(tmp_path / "right")


def test_requests_travel_over_tls_and_the_requester_says_what_was_negotiated(
    ends: Implementation, pair: tuple[str, str, str, str], made: Made, tmp_path: Path
):
    protocol, implementation, client, operation = pair
    if operation != "echo":
        pytest.skip("TLS carries whatever is asked: it is tested with echo")
    if not has_tls(ends.protocol(protocol), client):
        pytest.skip(f"{protocol} has no TLS with {client}")
    with ends.respond(protocol, implementation, knobs=KNOBS, tls=made.serving) as responder:
        port = responder.ready["port"]
        context = ssl.create_default_context(cafile=made.trusted["path"])
        with socket.create_connection(("127.0.0.1", port), timeout=ends.patience_s) as connected:
            context.set_alpn_protocols(["h2"] if protocol == "grpc" else ["http/1.1"])
            with context.wrap_socket(connected, server_hostname="127.0.0.1") as secured:
                assert secured.version() == "TLSv1.3"
        told: dict[str, Any] = {"knobs": KNOBS, "tls": made.trusted, "connection": "per-request"}
        if "reuse" not in ends.protocol(protocol)["responders"][0].get("refuses", {}):
            told["connection"] = "reuse"
        trial = ends.request(ends.trial(protocol, client, port, tmp_path / "record", **told))
    assert (trial.done["requests"], trial.done["verified"], trial.done["errors"]) == (10, 10, {})
    negotiated = trial.done["tls"]
    assert negotiated["version"] in ("TLSv1.3", None)


def test_a_requester_believes_nobody_whom_its_authority_does_not_vouch_for(
    ends: Implementation, request_protocol: str, made: Made
):
    offered = ends.protocol(request_protocol)
    if not has_tls(offered) or "respond" not in ends.commands:
        pytest.skip(f"{request_protocol} has no TLS")
    assert_believes_nobody_else(ends, (request_protocol, None, ends.default_clients(request_protocol)[0]), KNOBS, made)


def test_a_trial_without_the_authority_that_it_needs_is_refused(
    ends: Implementation, request_protocol: str, made: Made, tmp_path: Path
):
    client = ends.default_clients(request_protocol)[0]
    cases: list[dict[str, Any]] = [{"tls": made.trusted}]
    if has_tls(ends.protocol(request_protocol)):
        cases += [{"knobs": KNOBS}, {"knobs": KNOBS, "tls": {**made.trusted, "sha256": "0" * 64}}]
    for changes in cases:
        trial = ends.request(ends.trial(request_protocol, client, 9, tmp_path / "record", **changes))
        assert trial.failed["kind"] == "trial"
        assert "tls" in trial.failed["message"]


def test_a_responder_whose_certificate_cannot_be_used_does_not_start(
    ends: Implementation, respond_protocol: str, made: Made, tmp_path: Path
):
    """Nor one that is given a certificate and not told to use it, or has no TLS at all."""
    cases: list[dict[str, Any]] = [{"tls": made.serving}]
    if has_tls(ends.protocol(respond_protocol)):
        nowhere = str(tmp_path / "nowhere.pem")
        cases += [{"knobs": KNOBS}, {"knobs": KNOBS, "tls": {**made.serving, "key": nowhere}}]
    for changes in cases:
        assert "tls" in ends.refusal(respond_protocol, **changes)
