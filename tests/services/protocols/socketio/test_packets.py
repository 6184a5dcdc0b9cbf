"""Bytes of packets: those that the library wrote and read, and nothing encoded for the sake of counting."""

from __future__ import annotations

from typing import Any

import pytest
from socketio import packet

from services.python.contract.offers import find_protocol
from services.python.protocols.socketio import events
from tests.support import wire

CLIENTS = [client.name for client in find_protocol("socketio").clients]


def _encoded_size(kind: int, content: list[Any]) -> int:
    """What one packet takes, by the library's own encoding, without a number."""
    encoded = packet.Packet(packet_type=kind, data=content).encode()
    parts = encoded if isinstance(encoded, list) else [encoded]
    return sum(len(part.encode() if isinstance(part, str) else part) for part in parts)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_reply_comes_with_the_sizes_of_its_packets(client: str) -> None:
    """Also of the twelfth reply, whose number has one digit more."""
    with wire.responding("socketio", "python-socketio") as running:
        for operation, request in wire.REQUESTS.values():
            replies = wire.ask("socketio", client, running.port, operation, request, times=12)
            for reply, sizes in replies:
                assert sizes == (
                    _encoded_size(packet.EVENT, [operation, request]),
                    _encoded_size(packet.ACK, [reply]),
                ), operation


def test_sizes_are_read_without_encoding_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = events.Traffic()
    make = traffic.packet_class()
    request = {"records": [{"id": 1}]}
    sent = make(packet.EVENT, data=["echo", request], id=7).encode()
    make(encoded_packet='37[{"records":[{"id":1}]}]')

    def encoded_again(*_arguments: Any, **_named: Any) -> None:
        raise AssertionError("a packet was encoded to be counted")

    monkeypatch.setattr(packet.Packet, "encode", encoded_again)
    monkeypatch.setattr(packet.Packet.json, "dumps", encoded_again)
    sizes = events.size(traffic.sent), events.size(traffic.received)
    assert sizes == (len(sent) - 1, len('3[{"records":[{"id":1}]}]'))


def test_packets_that_are_neither_event_nor_acknowledgement_do_not_count() -> None:
    traffic = events.Traffic()
    make = traffic.packet_class()
    make(packet.CONNECT, data={"token": 1}).encode()
    make(encoded_packet='0{"sid":"x"}')
    assert (events.size(traffic.sent), events.size(traffic.received)) == (0, 0)
