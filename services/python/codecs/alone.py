"""A codec alone: each message is encoded and decoded again, and nobody is asked.

What a load loop takes for a connection is given an exchange: a request with the reply that answers it. Both are encoded,
then both are decoded, every field read (`protos/fields.md`); an echo's two messages, too, though they may be alike, as a
codec like GraphQL's has two that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic_ns
from typing import Any, TypeAlias

from services.python.codecs.base import Codec, Coder, message_of
from services.python.load.client import CallFailed, CallSpec, Part, Reply, Request
from services.python.operations.base import Make, Operation, WallClockNs, shorten
from services.python.operations.sameness import is_same

REQUEST, REPLY = "request", "reply"

_UNWRITABLE = (ValueError, TypeError, OverflowError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class Message:
    """How one message is written and read, both timed; `value` names what was read as the operation names it, untimed."""

    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes], Any]
    value: Callable[[Any], Mapping[str, Any]] = lambda decoded: decoded


Coded: TypeAlias = tuple[int, int, int, bytes, bytes, Any, Any]
"""An exchange that was encoded and decoded: when it was begun, encoded and decoded, by the monotonic clock in ns; the bodies
of request and reply; and what was read of them. A plain tuple, as making it stands within the sample.
"""


def exchanges(operation: Operation, make: Make) -> Make:
    """The operation's requests, each with the reply that answers it; an answer is given anew only to a new request.

    Text that is not ASCII is made anew each time: CPython keeps the UTF-8 of such a string once an encoder asked for it, so
    that encoding it again is a copy, which no service that gets its text from elsewhere would see.
    """
    last: tuple[Request, Reply, bool] | None = None
    answer = _answering(operation)

    def made(sequence: int, wall_clock_ns: WallClockNs) -> Request:
        nonlocal last
        request = make(sequence, wall_clock_ns)
        if last is None or last[0] is not request:
            answered = answer(request, wall_clock_ns)
            last = request, answered, _keeps_utf8(request) or _keeps_utf8(answered)
        _, reply, is_renewed = last
        return {REQUEST: _anew(request), REPLY: _anew(reply)} if is_renewed else {REQUEST: request, REPLY: reply}

    return made


def _answering(operation: Operation) -> Callable[[Request, WallClockNs], Reply]:
    """What answers it; what it holds is opened without any setting, and kept to the end of the process."""
    if operation.open is None:
        return operation.answer
    held = operation.open({}).__enter__()
    if getattr(held, "times", None) is None:
        return lambda request, wall_clock_ns: operation.answer(request, wall_clock_ns, held)
    from services.python.stores.base import Spent  # where nobody asks a store, nobody pays for it

    return lambda request, wall_clock_ns: operation.answer(request, wall_clock_ns, held, Spent())


def _keeps_utf8(value: Any) -> bool:
    """Whether somewhere in it stands a text that is not ASCII."""
    if isinstance(value, str):
        return not value.isascii()
    if isinstance(value, Mapping):
        return any(map(_keeps_utf8, value)) or any(map(_keeps_utf8, value.values()))
    return isinstance(value, list) and any(map(_keeps_utf8, value))


def _anew(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else "".join([value[:1], value[1:]])
    if isinstance(value, Mapping):
        return {_anew(key): _anew(item) for key, item in value.items()}
    return list(map(_anew, value)) if isinstance(value, list) else value


def verify(exchange: Request, decoded: Reply) -> str | None:
    """Why what was decoded is not what was encoded, types included (`operations.sameness`); None where it is."""
    for part in (REQUEST, REPLY):
        sent, came = exchange[part], decoded[part]
        if sent.keys() != came.keys() or not all(is_same(name, value, came[name]) for name, value in sent.items()):
            return f"the {part} {shorten(sent)} was decoded as {shorten(came)}"
    return None


def of_codec(codec: Codec, call: CallSpec, *, is_parsed_only: bool = False) -> Dialer:
    """Codes the operation's two messages; `is_parsed_only`: their fields are read outside of what is timed."""
    message = message_of(call.operation, call.example[REQUEST])
    request, reply = (_message(coder, is_parsed_only) for coder in (codec.request(message), codec.reply(message)))
    return Dialer(request, reply, errors=codec.errors, call=call)


def _message(coder: Coder, is_parsed_only: bool) -> Message:
    if is_parsed_only and coder.parse is not None and coder.value is not None:
        return Message(write=coder.write, read=coder.parse, value=coder.value)
    return Message(write=coder.write, read=coder.read)


class Dialer:
    """See `load.client.Dialer`; CallFailed `protocol` for an exchange that the codec cannot write."""

    def __init__(
        self, request: Message, reply: Message, *, errors: tuple[type[Exception], ...], call: CallSpec
    ) -> None:
        try:
            request.write(call.example[REQUEST])
            reply.write(call.example[REPLY])
        except _UNWRITABLE as error:
            raise CallFailed("protocol", f"{call.operation} cannot be encoded: {error}") from error
        self.dial = partial(Alone, _coding(request, reply, errors), request, reply)


class Alone:
    """See `load.client.Connection`; `call` encodes, then decodes."""

    def __init__(self, call: Callable[[Request], Coded], request: Message, reply: Message) -> None:
        self.call = call
        self._request, self._reply = request, reply

    def value(self, reply: Coded) -> Reply:
        *_, request, answer = reply
        return {REQUEST: self._request.value(request), REPLY: self._reply.value(answer)}

    def sizes(self, request: Request, reply: Coded) -> tuple[int, int]:  # noqa: ARG002 - a connection's signature
        return len(reply[3]), len(reply[4])

    def parts(self, request: Request, reply: Coded) -> Sequence[Part]:  # noqa: ARG002 - a connection's signature
        """Encoding, with the bytes that it wrote, and decoding, with those that it read."""
        begun_ns, encoded_ns, decoded_ns, body, answer, *_ = reply
        size = len(body) + len(answer)
        return (
            Part(sent_ns=begun_ns, received_ns=encoded_ns, bytes_sent=size, bytes_received=0),
            Part(sent_ns=encoded_ns, received_ns=decoded_ns, bytes_sent=0, bytes_received=size),
        )

    def close(self) -> None:
        """Nothing was opened."""


def _coding(request: Message, reply: Message, errors: tuple[type[Exception], ...]) -> Callable[[Request], Coded]:
    write, write_reply, read, read_reply = request.write, reply.write, request.read, reply.read

    def call(exchange: Request) -> Coded:
        request, answered = exchange[REQUEST], exchange[REPLY]
        begun_ns = monotonic_ns()
        body, answer = write(request), write_reply(answered)
        encoded_ns = monotonic_ns()
        try:
            decoded, decoded_answer = read(body), read_reply(answer)
        except errors as error:
            raise CallFailed("undecodable", str(error)) from error
        decoded_ns = monotonic_ns()
        return begun_ns, encoded_ns, decoded_ns, body, answer, decoded, decoded_answer

    return call
