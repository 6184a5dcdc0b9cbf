"""Bytes of packets: those that the library wrote and read, and nothing encoded for the sake of counting."""

from __future__ import annotations

from typing import Any

import pytest
from socketio import packet

from services.python.contract.offers import find_protocol
from services.python.protocols.socketio import packets
from services.python.protocols.socketio.events import ConnectionBase
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
            # The blocking client handles each part of a packet in a thread of its own, and a text may be overtaken by its
            # attachment: bytes are asked for once only.
            times = 1 if "data" in request else 12
            replies = wire.ask("socketio", client, running.port, operation, request, times=times)
            for reply, sizes in replies:
                assert sizes == (
                    _encoded_size(packet.EVENT, [operation, request]),
                    _encoded_size(packet.ACK, [reply]),
                ), operation


def test_sizes_are_read_without_encoding_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = packets.Traffic()
    make = traffic.packet_class()
    request = {"records": [{"id": 1}]}
    sent = make(packet.EVENT, data=["echo", request], id=7).encode()
    reply = make(encoded_packet='37[{"records":[{"id":1}]}]').data[0]
    exchange = (reply, traffic.sent, traffic.received)

    def encoded_again(*_arguments: Any, **_named: Any) -> None:
        raise AssertionError("a packet was encoded to be counted")

    monkeypatch.setattr(packet.Packet, "encode", encoded_again)
    monkeypatch.setattr(packet.Packet.json, "dumps", encoded_again)
    assert ConnectionBase().sizes(request, exchange) == (len(sent) - 1, len('3[{"records":[{"id":1}]}]'))


def test_packets_that_are_neither_event_nor_acknowledgement_do_not_count() -> None:
    traffic = packets.Traffic()
    make = traffic.packet_class()
    make(packet.CONNECT, data={"token": 1}).encode()
    make(encoded_packet='0{"sid":"x"}')
    assert (packets.size(traffic.sent), packets.size(traffic.received)) == (0, 0)
