"""gRPC's own knobs as they are on the wire: how many connections, how large a window, and whether it pings."""

from __future__ import annotations

import socket
from pathlib import Path

import grpc
import pytest

from services.python.contract.lines import Load
from services.python.protocols.grpc import options
from tests.support import wire
from tests.support.ends import make_trial, responder, trial_of
from tests.support.http2 import EMPTY_SETTINGS, PING, PREFACE, SETTINGS, exactly, first_of, window_in

pytestmark = pytest.mark.busy


def from_a_channel(knobs: dict[str, str], kind: int) -> bytes:
    """The first frame of a kind that a channel with these knobs sends to a server that takes its connection."""
    with socket.create_server((wire.HOST, 0)) as listener:
        listener.settimeout(60)
        port = listener.getsockname()[1]
        channel = grpc.insecure_channel(options.address(wire.HOST, port), options=options.channel(knobs))
        call = channel.unary_unary("/no/method").future(b"", wait_for_ready=True)
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(60)
            assert exactly(connection, len(PREFACE)) == PREFACE
            connection.sendall(EMPTY_SETTINGS)
            found = first_of(connection, kind)
        call.cancel()
        channel.close()
    return found


@pytest.mark.parametrize("window", [65_535, 100_000, 4_194_304])
def test_a_channel_says_the_window_that_was_asked_for(window: int):
    assert window_in(from_a_channel({"flow_window": str(window)}, SETTINGS)) == window


def test_a_channel_pings_where_it_is_asked_to():
    assert len(from_a_channel({"keepalive": "10"}, PING)) == 8


def test_no_option_is_set_where_nothing_is_asked_for():
    assert options.channel({}) == options.CHANNEL
    assert options.server({}) == options.SERVER


def test_a_server_bears_the_pings_that_a_channel_sends(tmp_path: Path):
    knobs = {"keepalive": "10"}
    with responder("grpc", knobs=knobs) as (_, ready):
        trial = trial_of(
            "grpc",
            "grpcio",
            ready["port"],
            tmp_path / "record",
            load=Load(duration_s=0.5, rate_per_s=20.0, arrivals="uniform"),
            knobs=knobs,
        )
        done = make_trial(trial)[-1]
    assert (done["type"], done["errors"]) == ("done", {})
