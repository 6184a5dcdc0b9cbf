"""Channel and server options, and what a call's status code means to a load loop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc

from services.python.codecs import coding
from services.python.contract.knobs import CONNECTIONS, FLOW_WINDOW, KEEPALIVE, WORKERS
from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.load.client import CallFailed, CallSpec
from services.python.load.handshake import no_connection, refused
from services.python.load.sharing import Share, Shares
from services.python.load.tls import ClientTls

Options = tuple[tuple[str, int], ...]

_MESSAGE_SIZES: Options = (
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
)

SERVER: Options = (*_MESSAGE_SIZES, ("grpc.so_reuseport", 0))
SERVER_OF_SEVERAL: Options = (*_MESSAGE_SIZES, ("grpc.so_reuseport", 1))
"""Each worker process listens on the port with a socket of its own, as gRPC's multiprocessing example does."""

# Keepalive is off unless a time is set.
CHANNEL: Options = (
    *_MESSAGE_SIZES,
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    # Channels of one process share a connection to the same address otherwise: "per-request" would open just one.
    ("grpc.use_local_subchannel_pool", 1),
)


_NO_PROBE: Options = (("grpc.http2.bdp_probe", 0),)


def windows(knobs: Mapping[str, str]) -> Options:
    """The HTTP/2 window of every stream, which then stays as it is; nothing where the library finds it by probing."""
    if (window := knobs.get(FLOW_WINDOW)) is None:
        return ()
    return (("grpc.http2.lookahead_bytes", int(window)), *_NO_PROBE)


def channel(knobs: Mapping[str, str]) -> Options:
    """The options of a channel."""
    if (every_ms := knobs.get(KEEPALIVE)) is None:
        return (*CHANNEL, *windows(knobs))
    pings: Options = (
        ("grpc.keepalive_time_ms", int(every_ms)),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    )
    return (*CHANNEL, *windows(knobs), *pings)


def server(knobs: Mapping[str, str]) -> Options:
    """The options of a server; it bears as many pings as a channel sends."""
    of_all = (*(SERVER_OF_SEVERAL if WORKERS in knobs else SERVER), *windows(knobs))
    if KEEPALIVE not in knobs:
        return of_all
    bearing: Options = (
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 0),
        ("grpc.http2.max_ping_strikes", 0),
        ("grpc.keepalive_permit_without_calls", 1),
    )
    return (*of_all, *bearing)


def compression(knobs: Mapping[str, str]) -> grpc.Compression:
    """How messages are compressed; gRPC's core sends one as it is where that would not make it smaller."""
    return grpc.Compression.NoCompression if coding.coding(knobs) is None else grpc.Compression.Gzip


def credentials(tls: ClientTls | None) -> dict[str, Any]:
    """The keyword that makes a channel one of TLS; gRPC's core verifies chain and address by itself."""
    if tls is None:
        return {}
    chain, key = (Path(name).read_bytes() for name in tls.certificate) if tls.certificate else (None, None)
    return {"credentials": grpc.ssl_channel_credentials(tls.authority, key, chain)}


def channels(call: CallSpec, library: Any) -> Shares[Any]:
    """The channels of a dialer, opened by `grpc` or `grpc.aio`: one for each connection, or as many as they share."""
    keywords = {
        "target": address(call.host, call.port),
        "options": channel(call.knobs),
        "compression": compression(call.knobs),
        **credentials(call.tls),
    }
    opens = library.insecure_channel if call.tls is None else library.secure_channel
    number = int(call.knobs[CONNECTIONS]) if CONNECTIONS in call.knobs else None
    return Shares(lambda: opens(**keywords), number)


class OnShare:
    """One call in flight on a channel, which is one HTTP/2 connection, of its own or shared with others."""

    def __init__(self, share: Share[Any]) -> None:
        self._share = share

    @property
    def shared(self) -> int | None:
        return self._share.number


class Blocking(OnShare):
    """Its end, where calls block."""

    def close(self) -> None:
        if (channel := self._share.end()) is not None:
            channel.close()


class Awaiting(OnShare):
    """Its end, where calls are awaited."""

    async def close(self) -> None:
        if (channel := self._share.end()) is not None:
            await channel.close()


_STATUSES = {grpc.StatusCode.DEADLINE_EXCEEDED: "timeout", grpc.StatusCode.CANCELLED: "cancelled"}


def address(host: str, port: int) -> str:
    """A gRPC target; an IPv6 address gets its brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def failure(code: grpc.StatusCode, details: str | None) -> CallFailed:
    """A call's end in the record's words.

    gRPC says UNAVAILABLE whether it could not connect, was not understood, or lost the connection, and INTERNAL also when
    a reply could not be parsed; only the details tell them apart.
    """
    words = details or ""
    status = _STATUSES.get(code, "protocol")
    if code is grpc.StatusCode.UNAVAILABLE:
        if any(known in words for known in _HANDSHAKE):
            return refused(f"{code.name}: {words}")
        status = _unavailable(words)
    elif "deserializing response" in words:
        status = "undecodable"
    return CallFailed(status, f"{code.name}: {words}")


_HANDSHAKE = ("handshake failed", "CERTIFICATE_VERIFY_FAILED", "erification", "peer certificate")


def _unavailable(words: str) -> str:
    if "Failed parsing HTTP/2" in words:
        return "undecodable"
    if "failed to connect" in words and "Socket closed" not in words:
        return no_connection(words).status
    return "closed"
