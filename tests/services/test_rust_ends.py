"""What Rust's ends do of the knobs of connections: several requests on one, HTTP/2's windows, options of sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation
from tests.support.built import why_not

pytestmark = [pytest.mark.slow, pytest.mark.busy]

HTTP_2 = {"http": "2"}
LOAD = {"requests": 300, "concurrency": 10}


@pytest.fixture
def rust() -> Implementation:
    if why := why_not("rust"):
        pytest.skip(why)
    return Implementation.named("rust", patience_s=30)


def asked(rust: Implementation, port: int, record: Path, protocol: str, client: str, **more: Any) -> Any:
    return rust.request(rust.trial(protocol, client, port, record, operation="add", load=LOAD, **more))


@pytest.mark.parametrize(
    ("protocol", "end"), [("tcp", "rust-tcp"), ("rest", "hyper"), ("rest", "rust-raw"), ("grpc", "tonic")]
)
def test_options_of_sockets_are_set_and_told(rust: Implementation, protocol: str, end: str, tmp_path: Path) -> None:
    knobs = {"congestion": "reno", "nodelay": "nagle", "tcp_window": "65536"}
    with rust.respond(protocol, knobs=knobs) as responder:
        assert responder.ready["settings"]["congestion control"] == "reno"
        trial = asked(rust, responder.ready["port"], tmp_path / "record", protocol, end, knobs=knobs)
        responder.stats()  # sets the windows of what was accepted anew
    settings = trial.done["settings"]
    assert (settings["congestion control"], settings["TCP_NODELAY"]) == ("reno", "off")
    assert settings["TCP windows, at the end"].startswith("65536 B for replies")


@pytest.mark.parametrize(
    ("client", "knobs", "connection"),
    [
        ("hyper", {"connections": "2"}, "reuse"),
        ("hyper", {"flow_window": "65535"}, "reuse"),
        ("hyper", {**HTTP_2, "connections": "2"}, "per-request"),
        ("hyper", {"congestion": "reno"}, "per-request"),
        ("rust-raw", HTTP_2, "reuse"),
        ("nobody", {}, "reuse"),
    ],
)
def test_what_does_not_go_together_is_refused(
    rust: Implementation, client: str, knobs: dict[str, str], connection: str, tmp_path: Path
) -> None:
    trial = asked(rust, 9, tmp_path / "record", "rest", client, knobs=knobs, connection=connection)
    assert trial.failed["kind"] == "trial"
