"""What the operations that there are cost on the wire: a change here changes what every published result means."""

from __future__ import annotations

import pytest

from services.python.contract.offers import find_protocol
from tests.support import wire

pytestmark = pytest.mark.busy

# Bytes of the request's and of the reply's body for each of `wire.REQUESTS`, in that order.
SIZES = {
    "avro": "28/61 6/5 1026/1026 1/1 706/706 95/95 5/5 20004/4 20004/4 14/70003 70004/2",
    "cbor": "48/101 11/10 1033/1033 7/7 1260/1260 75/75 11/11 20022/18 20022/18 33/70011 70023/8",
    "graphql": "211/128 100/28 1460/1392 92/24 1865/1744 204/140 115/30 26841/43 26840/43 170/93360 93486/28",
    "connect": "29/63 8/6 1027/1027 2/2 808/808 137/137 4/4 20004/4 20006/4 16/70004 70006/3",
    "grpc": "29/63 8/6 1027/1027 2/2 808/808 137/137 4/4 20004/4 20006/4 16/70004 70006/3",
    "json": "51/107 24/19 1379/1379 11/11 1731/1731 106/106 17/17 26699/24 26698/24 46/93347 93362/15",
    "msgpack": "47/100 11/10 1033/1033 8/8 1262/1262 75/75 11/11 20022/16 20022/16 34/70011 70023/9",
    "protobuf": "29/63 8/6 1027/1027 2/2 808/808 137/137 4/4 20004/4 20006/4 16/70004 70006/3",
    "rest": "51/107 24/19 1024/1024 0/0 1719/1719 93/93 4/4 20000/24 20000/24 10/70000 70000/1",
    "socketio": "66/110 33/22 1074/1067 50/43 1741/1734 137/130 27/20 20071/27 20070/27 83/70043 70069/44",
    "tcp": "27/60 8/8 1024/1024 0/0 1719/1719 93/93 4/4 20001/8 20001/8 14/70000 70004/1",
    "websocket": "51/107 24/19 1024/1024 0/0 1731/1731 106/106 17/17 20000/24 20000/24 10/70000 70000/1",
}


@pytest.mark.parametrize("protocol", SIZES)
def test_bodies_have_the_sizes_that_they_always_had(protocol: str) -> None:
    spoken = find_protocol(protocol)
    client = spoken.default_client(1).name
    with wire.responding(protocol, spoken.responders[0].name) as running:
        sizes = [wire.ask(protocol, client, running.port, *asked)[0][1] for asked in wire.REQUESTS.values()]
    assert " ".join(f"{sent}/{received}" for sent, received in sizes) == SIZES[protocol]
