"""gRPC with Protocol Buffers, over HTTP/2. The wire contract is `protos/orch.proto`."""

from __future__ import annotations

from dataclasses import replace

from services.python.codecs import coding
from services.python.contract import knobs
from services.python.contract.limits import MAX_MESSAGE_BYTES, SESSION, TLS
from services.python.contract.messages import OF_STREAMS, OF_THE_STORE
from services.python.contract.offers import AS_MESSAGES, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder

_PARTS = Parts(codec="Protocol Buffers", transport="gRPC", server="grpcio threads", framework="grpcio")
_PACKAGES = ("grpcio", "protobuf")
_AIO_SETTINGS = {"event loop": "uvloop; gRPC's own poller thread wakes it"}
_THREADS = 32  # `serve.dispatcher.POOL_THREADS`, which imports more than a declaration may
_OF_WORKERS = {
    f"{knobs.WORKERS}: N": "so many processes, each of which listens on the port with a socket of its own (SO_REUSEPORT), "
    "as in gRPC's multiprocessing example: the kernel deals out connections by a hash of their addresses; none "
    "is started anew"
}
_SERVER_SETTINGS = {
    "threads": f"at most {_THREADS}, or as many as a store's connections",
    "SO_REUSEPORT": "off",
    **_OF_WORKERS,
}
_TO_A_THREAD = "hands every request to a thread of a pool"
_FROM_THE_POLLER = "is woken by gRPC's own poller thread"
_NO_STREAMS = {"stream": "it blocks a thread; streams are read by awaiting clients"}

PROTOCOL = Protocol(
    name="grpc",
    title="gRPC",
    summary="Remote procedure calls with Protocol Buffers over HTTP/2, by grpcio",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE | OF_STREAMS,
    streams="also",
    responders=(
        Responder(
            name="grpcio",
            module="services.python.protocols.grpc.responder",
            parts=_PARTS,
            adds=_TO_A_THREAD,
            packages=_PACKAGES,
            refuses=knobs.NO_LOOP,
            settings=_SERVER_SETTINGS,
            most_streams=_THREADS,  # each has a thread for as long as it lasts
            shares="port",
        ),
        Responder(
            name="grpc-aio",
            module="services.python.protocols.grpc.aio_responder",
            parts=replace(_PARTS, server="grpcio asyncio"),
            adds=_FROM_THE_POLLER,
            packages=(*_PACKAGES, "uvloop"),
            settings={**_AIO_SETTINGS, "SO_REUSEPORT": "off", **_OF_WORKERS},
            shares="port",
        ),
    ),
    clients=(
        Client(
            name="grpcio",
            module="services.python.protocols.grpc.requester",
            style="sync",
            packages=_PACKAGES,
            refuses=_NO_STREAMS,
        ),
        Client(
            name="grpc-aio",
            module="services.python.protocols.grpc.aio_requester",
            style="async",
            adds=_FROM_THE_POLLER,
            packages=(*_PACKAGES, "uvloop"),
            settings=_AIO_SETTINGS,
        ),
    ),
    knobs={
        "compression": ("none", coding.GZIP),
        **AS_MESSAGES,
        knobs.CONNECTIONS: ("each", "1..10000"),
        knobs.FLOW_WINDOW: ("library", "65535..2147483647"),
        knobs.KEEPALIVE: ("none", "10..3600000"),
        knobs.FIELDS: (knobs.ALL_FIELDS, knobs.SHOWN),
        TLS: SECURED[TLS],
        knobs.WORKERS: knobs.SEVERAL,
    },
    without_knobs={
        "compression": "gRPC's core compresses with gzip, and has no zstd",
        "http": "gRPC is HTTP/2 by its specification, whatever is asked of others",
        SESSION: "grpcio resumes no session of another channel, and cannot be told to",
    },
    sequential="grpcio",
    concurrent="grpc-aio",
    # The client waits for the server's SETTINGS frame before its first call. The server sends that frame as soon as it
    # has accepted, without waiting for the client's preface, so it comes one round trip after TCP's own handshake.
    round_trips_to_open=2,
    settings={
        **coding.GZIP_SETTINGS,
        coding.ASKED_FOR: f"level {coding.LEVEL}; a message that it would not make smaller is sent as it is",
        "largest message": f"{MAX_MESSAGE_BYTES} bytes",
        "retries": "off",
        "keepalive": "off",
        "keepalive: TIME": "a ping so often, with and without calls; given up after 20 s; the server takes as many",
        "flow_window": "grows with what the library's probes find (BDP)",
        "flow_window: SIZE": "of each stream, at both ends, without probes; a message whose length is known is let through"
        " whole once the reader waits for it",
        "HTTP proxy": "not used",
        "subchannels": "of each channel's own, so that a new channel is a new TCP connection",
        "TCP_NODELAY": "on (gRPC always sets it)",
        **TLS_SETTINGS,
        "TLS version and cipher": "gRPC's own library (BoringSSL) chooses, and does not tell",
        "document": "a message made from its shape (protos/documents.md)",
        "document: value": "google.protobuf.Value, whose numbers are doubles",
    },
)
