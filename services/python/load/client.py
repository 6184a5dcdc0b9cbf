"""What a protocol's requester module gives to the load loops.

`dialer(call, client)` returns a `Dialer` or an `AsyncDialer`. The loop opens connections, times `call`, and asks for
`value` and `sizes` when it was timed: where several requests are in flight mostly after the phase, up to thousands of
calls later and when the connection may be closed. So both read what `call` returned and nothing else, any connection of a
dialer reads the replies of all, and what `call` returned stays as it is. Under `per-request`, opening the connection is
part of the timed call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from services.python.contract import strict
from services.python.contract.limits import Kind
from services.python.contract.strict import quotable
from services.python.load.tls import ClientTls

Request = Mapping[str, Any]
Reply = Mapping[str, Any]
Event = Mapping[str, Any]


@strict.part
class CallSpec(strict.Part):
    """What a dialer must know: where, which operation, how long to wait, and an example request to size buffers by.

    The client enforces `timeout_s` itself, for dialling and for each call, and ends with CallFailed("timeout"). How long a
    stream may last, and how far apart its events are, is not the client's to bound.
    """

    host: str
    port: int
    operation: str
    timeout_s: float
    example: Request
    knobs: Mapping[str, str] = field(default_factory=dict)  # what is not at its default (protos/process.md)
    schema: bytes | None = None  # of the message that a JSON document travels as (protos/documents.md)
    kind: Kind = "call"
    tls: ClientTls | None = None  # None: connections are plain

    @property
    def http(self) -> str:
        """The scheme of its URLs."""
        return "http" if self.tls is None else "https"


class CallFailed(Exception):
    """A request that ended without a decoded reply; `status` is one of `contract.STATUSES`.

    `parts`: the parts that a call of several steps had until then, worked out when it is asked for.
    """

    def __init__(self, status: str, detail: str = "", *, parts: Callable[[], Sequence[Part]] | None = None) -> None:
        detail = quotable(detail)  # it quotes who answers, with as many characters as that one likes
        super().__init__(f"{status}: {detail}" if detail else status)
        self.status = status
        self.detail = detail
        self.parts = parts or tuple[Part]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One step of a timed call: its stamps by the clock of the sample's, its bodies' sizes (-1 where they are not known).

    `failure`: why it is no right one.
    """

    sent_ns: int
    received_ns: int
    bytes_sent: int
    bytes_received: int
    failure: CallFailed | None = None


class InParts(Protocol):
    """What the connection of a client offers besides, whose one timed `call` consists of several steps."""

    def parts(self, request: Request, reply: Any) -> Sequence[Part]:
        """The steps of what `call` returned, in their order, within its stamps. Not timed."""


class Readable(Protocol):
    """What a connection tells of a reply, blocking or awaiting. Not timed."""

    @property
    def body(self) -> Any:
        """The body of the last reply, as it came; None where the library keeps it to itself."""

    def value(self, reply: Any) -> Reply:
        """The reply that `call` has read, named as the operation names it; decodes nothing."""

    def sizes(self, request: Request, reply: Any) -> tuple[int, int]:
        """Bytes of the request's and the reply's body (message without transport framing), counted by `call`."""


class Connection(Readable, Protocol):
    """One connection of a blocking client.

    It may offer more, which load loops look for by name:

    * `has_unasked()`, of a client that takes the next frame for the reply to its last request: whether more came than was
      asked for. One reply too many makes each later call return the reply to an earlier request; the loops look once, when
      all phases are over and only `close` may follow. Awaitable for an awaiting client.
    * `is_over`, of a protocol by which a responder can announce that it closes the connection: whether one of its replies
      did. It is then dialled anew for the next request.
    * `shared`, of a connection that several requests in flight may share: which one it is a part of; None for its own.
    """

    def call(self, request: Request) -> Any:
        """Encode, send, await one request, and read every field of the reply (`protos/fields.md`). Timed. CallFailed."""

    def close(self) -> None:
        """End the connection; idempotent."""


Counted = tuple[Any, int, int]
"""What `call` returns of a `Counting` connection: the reply as it was read, and the bytes of both bodies."""


class Counting:
    """What is the same of all connections whose `call` has read the reply and counted both bodies."""

    def value(self, reply: Counted) -> Reply:
        value: Reply = reply[0]
        return value

    def sizes(self, request: Request, reply: Counted) -> tuple[int, int]:  # noqa: ARG002 - counted when they passed
        return reply[1], reply[2]


class Dialer(Protocol):
    """Opens connections of a blocking client."""

    def dial(self) -> Connection:
        """A connection; the library may open the socket now or at the first call. CallFailed when it cannot."""


@dataclass(frozen=True)
class Dialing:
    """A `Dialer` whose connections need no more than to be made."""

    dial: Callable[[], Connection]


class AsyncConnection(Readable, Protocol):
    """One connection of an awaiting client; see `Connection`."""

    async def call(self, request: Request) -> Any:
        """See `Connection.call`."""

    async def close(self) -> None:
        """See `Connection.close`."""


class AsyncDialer(Protocol):
    """Opens connections of an awaiting client."""

    async def dial(self) -> AsyncConnection:
        """See `Dialer.dial`."""


@dataclass(frozen=True)
class AsyncDialing:
    """The same for an awaiting client."""

    open: Callable[[], Any]

    async def dial(self) -> Any:
        return self.open()


class Joining(AsyncDialer, Protocol):
    """An awaiting client's dialer that can put connections to several operations on one connection of its transport."""

    def one_connection(self) -> Any:
        """What is to be given to `dial_on` of the dialer of each of the operations. CallFailed where there is none."""

    async def dial_on(self, one: Any) -> AsyncConnection:
        """As `dial`, on that connection, which opens with the first call and ends with the last of its users."""


class AsyncSubscriber(AsyncConnection, Protocol):
    """One connection of an awaiting client that can also be sent events, one subscription after the other."""

    async def subscribe(self, request: Request) -> int:
        """Ask for a stream of events. Bytes of the request's body. CallFailed."""

    async def next_event(self) -> tuple[Event, int] | None:
        """The next event, every field of it read, and the bytes of its message; None when the stream is over. CallFailed."""
