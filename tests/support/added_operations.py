"""Operations that nobody knew: `python -m tests.support.added_operations` is a responder that has them all the same.

It reads the same *serve* line as `services.python.programs.respond`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from services.python.contract.messages import ADD, IMAGE, TIMESTAMP, Message
from services.python.operations import OPERATIONS, Operation

SEAL = Message(
    name="seal",
    request={"text": "text", "times": "integer", "weight": "number", "is_open": "flag", "data": "bytes"},
    reply={"length": "integer", "half": "number", "is_open": "flag", "data": "bytes", "name": "text"},
)
NOTE = Message(name="note", request={"data": "text"}, reply={"data": "text"})
_PATIENCE_S = 60

_met = threading.Barrier(2, timeout=_PATIENCE_S)


def _meet(request: Mapping[str, Any], _wall_clock_ns: Any) -> dict[str, Any]:
    """The sum, as soon as another one is asked at the same time."""
    try:
        _met.wait()
    except threading.BrokenBarrierError as error:
        raise ValueError("nobody else was answered meanwhile") from error
    return {"sum": request["a"] + request["b"]}


def _where(_request: Mapping[str, Any], _wall_clock_ns: Any) -> dict[str, Any]:
    """1 in the main thread, where event loops run."""
    return {"sum": int(threading.current_thread() is threading.main_thread())}


def _seal(request: Mapping[str, Any], _wall_clock_ns: Any) -> dict[str, Any]:
    return {
        "length": len(request["data"]) * request["times"],
        "half": request["weight"] / 2,
        "is_open": not request["is_open"],
        "data": request["data"][::-1],
        "name": request["text"].upper(),
    }


_ADD, _IMAGE, _TIMESTAMP = (OPERATIONS[message.name] for message in (ADD, IMAGE, TIMESTAMP))

ADDED: Mapping[str, Operation] = {
    operation.name: operation
    for operation in (
        replace(_ADD, name="subtract", answer=lambda request, _: {"sum": request["a"] - request["b"]}),
        replace(_ADD, name="double_sum", answer=lambda request, _: {"sum": 2 * (request["a"] + request["b"])}),
        replace(_IMAGE, name="turned", answer=lambda request, _: {"width": len(request["data"]), "height": 7}),
        replace(OPERATIONS["echo"], name="say_again"),
        replace(
            _TIMESTAMP,
            name="backwards",
            answer=lambda request, _: {
                "request_timestamp": request["request_timestamp"][::-1],
                "response_timestamp": "now",
            },
        ),
        replace(_ADD, name="seal", message=SEAL, answer=_seal),
        replace(_ADD, name="note", message=NOTE, answer=lambda request, _: {"data": request["data"] + "!"}),
        replace(_ADD, name="meet", runs="pool", answer=_meet),
        replace(_ADD, name="where", answer=_where),
        replace(OPERATIONS["events"], name="ticks"),
    )
}


@contextmanager
def added() -> Iterator[None]:
    """This process has them, too, while the block lasts."""
    every = cast(dict[str, Operation], OPERATIONS)
    every.update(ADDED)
    try:
        yield
    finally:
        for name in ADDED:
            del every[name]


if __name__ == "__main__":
    from services.python.programs import respond

    with added():
        respond.main()
