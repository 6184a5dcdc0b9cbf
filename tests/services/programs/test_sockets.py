"""Options of sockets that a cell asks for: set whatever the library, read back from the kernel, refused where it cannot."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from services.python.contract.lines import Load, Payload
from services.python.probes import sockets
from tests.support import wire
from tests.support.ends import make_trial, responder, trial_of

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
pytestmark = pytest.mark.skipif(
    not AVAILABLE.exists(), reason="this kernel does not say what congestion control it has"
)


def other_than_the_systems() -> str:
    """A congestion control that this process may set, and that it does not get unasked."""
    with socket.socket() as fresh:
        usual = fresh.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    for name in ("reno", "cubic", "bbr"):
        if name != usual and name in AVAILABLE.read_text().split():
            return name
    pytest.skip("this kernel has one congestion control alone")


def test_connections_of_this_process_are_set_and_no_other():
    wanted = other_than_the_systems()
    knobs = {"congestion": wanted, "nodelay": "nagle"}
    with socket.create_server((wire.HOST, 0)) as one, socket.create_server((wire.HOST, 0)) as other:
        here, there = (socket.create_connection(listener.getsockname()) for listener in (one, other))
        with here, there:
            there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            port = one.getsockname()[1]
            with pytest.raises(sockets.CannotSet, match="1 connections were opened anew"):
                sockets.refuse_differing(knobs, port)
            sockets.set_connections(knobs, port)
            sockets.refuse_differing(knobs, port)
            assert sockets.congestion_of(port) == [wanted]
            assert not here.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert there.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sockets.congestion_of(other.getsockname()[1]) != [wanted]


def test_a_kernel_that_has_it_not_is_named_with_what_it_has():
    with pytest.raises(sockets.CannotSet, match=f"on {socket.gethostname()}: .*; its kernel has .*reno"):
        sockets.refuse_if_impossible({"congestion": "carrier-pigeon"})


@pytest.mark.busy
@pytest.mark.parametrize(
    ("protocol", "client"),
    [("tcp", "socket"), ("grpc", "grpcio"), ("rest", "pycurl"), ("rest", "aiohttp"), ("websocket", "aiohttp")],
)
def test_a_trial_is_made_with_what_was_asked_for(protocol: str, client: str, tmp_path: Path):
    wanted = other_than_the_systems()
    knobs = {"congestion": wanted, "nodelay": "nagle"}
    with responder(protocol, knobs=knobs) as (_, ready):
        trial = trial_of(protocol, client, ready["port"], tmp_path / "record", load=Load(requests=20), knobs=knobs)
        done = make_trial(trial)[-1]
    assert (done["type"], done["settings"]["congestion control"]) == ("done", wanted)


WINDOW = 50_000  # not what a connection has unasked


def clamp(sock: socket.socket) -> int:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)


def test_a_window_is_set_on_connections_to_a_port_and_on_those_accepted_there():
    knobs = {"tcp_window": str(WINDOW)}
    with socket.create_server((wire.HOST, 0)) as listener:
        port = listener.getsockname()[1]
        sockets.set_listeners(knobs)
        with socket.create_connection(listener.getsockname()) as here, listener.accept()[0] as there:
            with pytest.raises(sockets.CannotSet, match="1 connections were opened anew"):
                sockets.refuse_differing(knobs, port)
            sockets.set_connections(knobs, port)
            sockets.refuse_differing(knobs, port)
            there.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 4 * WINDOW)
            sockets.bound_accepted(knobs, port)
            assert (clamp(here), clamp(there)) == (WINDOW, WINDOW)
            assert here.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= 2 * WINDOW


def test_what_is_offered_is_read_from_the_kernel():
    """A listener's window holds from the first byte: no more than it is ever under way to a reader who does not read."""
    with socket.create_server((wire.HOST, 0)) as listener:
        sockets.set_listeners({"tcp_window": str(WINDOW)})
        port = listener.getsockname()[1]
        with socket.create_connection(listener.getsockname()), listener.accept()[0]:
            windows = sockets.windows_of(port)
            offered, got = windows
            assert 0 < got <= WINDOW
            assert offered > 0
            told = sockets.windows_told({"tcp_window": str(WINDOW)}, port)
            assert told == {"TCP windows, at the end": f"{offered:,} B for replies, {got:,} B for requests"}
            assert sockets.windows_told({}, port) == {}
    assert sockets.windows_of(1) is None


def test_a_window_that_the_kernel_does_not_give_is_refused_with_what_it_gives():
    with pytest.raises(sockets.CannotSet, match=rf"on {socket.gethostname()}: .*net\.core\.rmem_max\) is \d+"):
        sockets.refuse_if_impossible({"tcp_window": "1073741824"})


@pytest.mark.busy
@pytest.mark.parametrize(("protocol", "client"), [("tcp", "socket"), ("rest", "pycurl"), ("grpc", "grpc-aio")])
def test_a_trial_has_the_window_at_both_ends(protocol: str, client: str, tmp_path: Path):
    """The responder bounds what it accepts, the requester its own connections before most of the warm-up."""
    knobs = {"tcp_window": str(4 * WINDOW)}
    with responder(protocol, knobs=knobs) as (running, ready):
        trial = trial_of(
            protocol,
            client,
            ready["port"],
            tmp_path / "record",
            operation="transfer",
            payload=Payload(kind="transfer", size=1_000_000, reply_size=1_000_000),
            load=Load(requests=20),
            knobs=knobs,
        )
        assert running.stats()["type"] == "stats"
        done = make_trial(trial)[-1]
    assert (done["type"], done["errors"], done["warmup_requests"]) == ("done", {}, 6)
    replies, requests = map(int, re.findall(r"(\d+) B", done["settings"]["TCP windows, at the end"].replace(",", "")))
    assert 0 < replies <= 1.05 * 4 * WINDOW  # in steps of what the connection's scale can say
    assert requests > 0
