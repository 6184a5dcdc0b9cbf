"""What a protocol carried by HTTP gives, and all that the clients know of it: how one operation looks on the wire."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import Any

from services.python.codecs.coding import Coding
from services.python.contract.strict import Part, part
from services.python.load.client import CallFailed, CallSpec, Counted, Counting, Reply, Request

_SHOWN_BYTES = 200

PLAIN = (None, "", "identity")

OCTETS = "application/octet-stream"

GONE = "the kept connection was gone"

HttpReply = Counted


def _failed(status: int, body: bytes) -> CallFailed:
    return CallFailed("protocol", f"HTTP {status}: {shown(body)}")


@part
class Route(Part):
    """One operation as a request: made once for a trial, so that a call is `encode`, send, receive, `decode`.

    All requests of a trial have one shape, that of the example it was made from; path and content type do not change,
    unless `varies` gives method, path and all header fields of each request.
    `decode` raises one of `decode_errors` for a body that is none, and CallFailed for an error in the protocol's own
    words. `value` turns what it gave into the operation's terms, outside the timed window. `also` are further header fields,
    `reply_type` is the Content-Type that a right reply must have (empty: it is not looked at), and `failed` says what a
    reply with another HTTP status than 200 is.
    """

    path: str
    content_type: str
    encode: Callable[[Request], bytes]
    decode: Callable[[bytes], Any]
    value: Callable[[Any], Reply] = lambda decoded: decoded
    decode_errors: tuple[type[Exception], ...] = (ValueError,)
    also: Mapping[str, str] = field(default_factory=dict)
    reply_type: str = ""
    failed: Callable[[int, bytes], CallFailed] = _failed
    coding: Coding | None = None
    method: str = "POST"
    varies: Callable[[Request], tuple[str, str, Mapping[str, str]]] | None = None
    unpacks: bool = False  # whether a reply may be compressed although its request is not

    def compressed(self, coding: Coding) -> Route:
        """The same operation with compressed bodies both ways."""
        encode, pack = self.encode, coding.pack
        return replace(self, encode=lambda request: pack(encode(request)), coding=coding)

    def fields(self) -> dict[str, str]:
        """The header fields that every client is given: what they add themselves is the libraries' own business.

        One short User-Agent for all: pycurl's own, say, names its libraries in 190 bytes.
        """
        fields = {"Content-Type": self.content_type, **self.also, "Accept-Encoding": "identity", "User-Agent": "orch"}
        name = None if self.coding is None else self.coding.name
        coding = {"Accept-Encoding": name, "Content-Encoding": name} if name else {}
        return {**fields, **coding}

    def reader(self) -> Callable[[int, bytes], Any]:
        """`read` for a client that gives bodies as they were on the wire."""
        return self.read if self.coding is None else partial(self._read_compressed, self.coding.unpack)

    def require_coding(self, coding: Coding, name: str | None) -> None:
        """CallFailed unless the reply was compressed, where the library unpacks it; `name`: its Content-Encoding."""
        if name != coding.name:
            raise CallFailed("undecodable", f"a reply with Content-Encoding {name}, not {coding.name}")

    def require_plain(self, name: str | None) -> None:
        """CallFailed for a reply that is compressed although nobody asked for that, where the library would unpack it.

        Its size on the wire would be told as that of the unpacked body; and a stranger's may unpack to anything.
        """
        if self.coding is None and not self.unpacks and name not in PLAIN:
            raise CallFailed("undecodable", f"a reply with Content-Encoding {name!r:.80}, which was not asked for")

    def require_type(self, status: int, media_type: str | None) -> None:
        """CallFailed where a right reply has another Content-Type than `reply_type`."""
        if status == 200 and media_type != self.reply_type:
            raise CallFailed("undecodable", f"a reply with Content-Type {media_type}, not {self.reply_type}")

    def _read_compressed(self, unpack: Callable[[bytes], bytes], status: int, body: bytes) -> Any:
        try:
            plain = unpack(body)
        except ValueError as error:
            raise CallFailed("undecodable", f"HTTP {status}, {error}: {shown(body)}") from error
        return self.read(status, plain)

    @property
    def _unreadable(self) -> tuple[type[Exception], ...]:
        """Asked for once something was raised; RecursionError: nested more deeply than any message here."""
        return (*self.decode_errors, RecursionError)

    def read(self, status: int, body: bytes) -> Any:
        """The decoded body of a reply with this HTTP status; CallFailed `protocol` or `undecodable`."""
        if status != 200:
            raise self.failed(status, body)
        try:
            return self.decode(body)
        except self._unreadable as error:
            raise CallFailed("undecodable", f"{error} in {shown(body)}") from error


class HttpConnection(Counting):
    """The part of a connection that is the same for every client, and is never timed."""

    body: bytes | None = None  # See `load.client.Readable.body`

    is_over = False
    """See `load.client.Connection`: `Connection: close`, or a GOAWAY of HTTP/2 where the library shows it."""

    unpacks = False  # whether the library itself unpacks compressed replies

    def __init__(self, route: Route, call: CallSpec) -> None:
        self._route = route
        self._encode, self._method, self._varies = route.encode, route.method, route.varies
        self._read = route.read if self.unpacks else route.reader()
        self._has_type = bool(route.reply_type)
        self._server = f"{call.http}://{authority(call.host, call.port)}"
        self._url = f"{self._server}{route.path}"
        self._head: Mapping[str, str] = {}  # header fields of the last reply, in whatever letters

    def value(self, reply: HttpReply) -> Reply:
        return self._route.value(reply[0])

    def field(self, name: str) -> str | None:
        """A header field (small letters) of the last reply: `location`, and `content-encoding` where the route `unpacks`."""
        return self._head.get(name)


def ends_connection(is_1_0: bool, connection: str | None) -> bool:
    """Whether a reply of HTTP/1 announces that its connection is closed, by its version and field `Connection`."""
    if connection is None:
        return is_1_0
    return "keep-alive" not in connection.lower() if is_1_0 else "close" in connection.lower()


@lru_cache(maxsize=8)
def family_of(host: str) -> socket.AddressFamily:
    """Which addresses of a host a client with one socket takes, as a second one is never tried: IPv4 where it has such.

    Any (AF_UNSPEC) for a name that is not known: the client says so.
    """
    try:
        families = {family for family, *_ in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return socket.AF_UNSPEC
    return socket.AF_INET if socket.AF_INET in families else socket.AF_INET6


def shown(body: bytes) -> str:
    """The beginning of a body, for a message."""
    return repr(body[:_SHOWN_BYTES]) + ("..." if len(body) > _SHOWN_BYTES else "")


def authority(host: str, port: int) -> str:
    """Host and port as they stand in a URL; IPv6 addresses in brackets (RFC 3986, 3.2.2)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
