"""What is asked: pure functions that know no protocol. A clock, where one is needed, is passed in.

An operation's request and reply are flat mappings of plain values, whose fields its message has (`contract.messages`).
`call` is a request to somebody's own service (`operations.call`), and no responder here answers it.
Besides these every responder answers `identity` ({} -> identity: str; see `serve.dispatcher`), `tcp` alone `exchange`
(data: bytes, reply_size: int -> data: bytes), and nobody `evolution` (count: int -> records), which codecs code alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.python.contract.messages import IDENTITY, Message
from services.python.operations import (
    accounts,
    activity,
    add,
    call,
    echo,
    events,
    evolution,
    exchange,
    exchange_json,
    image,
    posts,
    timestamp,
    transfer,
)
from services.python.operations.base import Operation, PayloadError, Request

OPERATIONS: Mapping[str, Operation] = {
    module.OPERATION.name: module.OPERATION
    for module in (
        timestamp,
        add,
        echo,
        image,
        events,
        transfer,
        evolution,
        exchange,
        exchange_json,
        call,
    )
} | {operation.name: operation for operation in (*accounts.OPERATIONS, activity.OPERATION, *posts.OPERATIONS)}


def message_named(operation: str) -> Message:
    """The message of an operation, or of `identity`; KeyError for one that is not known."""
    return IDENTITY if operation == IDENTITY.name else OPERATIONS[operation].message


def pieces_of(operation: Operation, request: Request) -> tuple[Request, ...]:
    """The requests that the operations in `made_of` are asked in place of this one, in their order."""
    every = (OPERATIONS[name].message.request for name in operation.made_of)
    return tuple({field: request[field] for field in fields} for fields in every)


def forms() -> Mapping[str, Message]:
    """Every form in which a message of some operation travels, by its name."""
    every = (IDENTITY, *(operation.message for operation in OPERATIONS.values()))
    return {name: form for message in every for name, form in message.forms().items()}


__all__ = ["OPERATIONS", "Operation", "PayloadError", "forms", "message_named", "pieces_of"]
