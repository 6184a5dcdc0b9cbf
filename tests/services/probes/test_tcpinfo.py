"""The kernel's own counts of our connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from services.python.probes import tcpinfo
from services.python.probes.tcpinfo import WireMeter, addresses_of


@pytest.fixture(autouse=True)
def nothing_of_earlier_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that an earlier test left in this process is none of the requester's, which has its target's alone."""
    earlier = set(tcpinfo.open_files())
    find = tcpinfo.open_files
    monkeypatch.setattr(tcpinfo, "open_files", lambda: [each for each in find() if each not in earlier])


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def _exchange(listener: socket.socket, sent: int, received: int) -> tuple[socket.socket, socket.socket]:
    ours = socket.create_connection(listener.getsockname())
    theirs, _ = listener.accept()
    _talk(ours, theirs, sent, received)
    return ours, theirs


def _talk(ours: socket.socket, theirs: socket.socket, sent: int, received: int) -> None:
    ours.sendall(bytes(sent))
    assert len(theirs.recv(sent, socket.MSG_WAITALL)) == sent
    theirs.sendall(bytes(received))
    assert len(ours.recv(received, socket.MSG_WAITALL)) == received


def test_finds_the_connections_to_the_target_and_no_others(listener: socket.socket):
    port = listener.getsockname()[1]
    ours, theirs = _exchange(listener, 1000, 300)
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as other:
        elsewhere, its_end = _exchange(other, 1, 1)
        with elsewhere, its_end:
            found = tcpinfo._find(addresses_of("localhost", port) | {"127.0.0.1"}, port, tcpinfo.open_files())
            ((_, _, raw),) = found
    counted = tcpinfo.counters(raw)
    assert (counted["bytes_sent"], counted["bytes_received"]) == (1000, 300)
    assert tcpinfo.min_rtt_us(raw) > 0


def test_counts_only_what_happened_in_the_window(listener: socket.socket):
    ours, theirs = _exchange(listener, 1000, 300)
    meter = WireMeter("127.0.0.1", listener.getsockname()[1])
    with ours, theirs:
        meter.begin()
        _talk(ours, theirs, 50, 70)
        meter.end()
    wire = meter.wire()
    assert (wire["bytes_sent"], wire["bytes_received"], wire["retransmits"]) == (50, 70, 0)
    assert wire["segments_sent"] > 0
    assert meter.min_rtt_us() is not None


def test_connections_that_come_and_go_are_counted_at_their_last_look(listener: socket.socket):
    meter = WireMeter("127.0.0.1", listener.getsockname()[1])
    meter.begin()
    for _ in range(3):
        ours, theirs = _exchange(listener, 10, 20)
        meter.before_close()
        ours.close()
        theirs.close()
    meter.end()
    wire = meter.wire()
    assert (wire["bytes_sent"], wire["bytes_received"]) == (30, 60)


def test_sums_that_lack_a_socket_which_was_closed_unseen_are_not_given(listener: socket.socket):
    meter = WireMeter("127.0.0.1", listener.getsockname()[1])
    ours, theirs = _exchange(listener, 10, 20)
    with theirs:
        meter.begin()
        _talk(ours, theirs, 30, 40)
        ours.close()  # as a client library does that opens another connection by itself
        again, its_end = _exchange(listener, 10, 20)
        with again, its_end:
            meter.end()
            assert meter.wire() is None
            assert meter.min_rtt_us() is not None


def test_where_short_connections_overlap_only_the_round_trip_is_known(listener: socket.socket):
    meter = WireMeter("127.0.0.1", listener.getsockname()[1], overlap=True)
    meter.begin()
    ours, theirs = _exchange(listener, 10, 20)
    with ours, theirs:
        meter.before_close()
    meter.end()
    assert meter.wire() is None
    assert meter.min_rtt_us() is not None
