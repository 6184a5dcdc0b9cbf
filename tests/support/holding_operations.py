"""Operations that hold something, and say on stderr when it is opened and closed: a responder that has them.

`python -m tests.support.holding_operations` reads the same *serve* line as `services.python.programs.respond`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, cast

from services.python.operations import OPERATIONS, Operation
from services.python.programs import respond

_LONG_S = 3600


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


def _holding(
    name: str, closing: Callable[[], None] = lambda: None
) -> Callable[[Mapping[str, str]], AbstractContextManager[Any]]:
    @contextmanager
    def opened(settings: Mapping[str, str]) -> Iterator[int]:
        _say(f"opened {name} with {dict(settings)}")
        yield int(settings.get("offset", "0"))
        closing()
        _say(f"closed {name}")

    return opened


@contextmanager
def _cannot_be_opened(_settings: Mapping[str, str]) -> Iterator[int]:
    raise ConnectionRefusedError("nobody at db:5432")
    yield 0


@contextmanager
def _never_opened(_settings: Mapping[str, str]) -> Iterator[int]:
    _say("opening never")
    time.sleep(_LONG_S)
    yield 0


def _broken() -> None:
    raise RuntimeError("the pool is broken")


def _answer(request: Mapping[str, Any], _wall_clock_ns: Any, held: int) -> dict[str, Any]:
    return {"sum": request["a"] + request["b"] + held}


_HOLDS = replace(OPERATIONS["add"], answer=_answer, resources=("offset",))
ADDED = [
    replace(_HOLDS, name="shifted", open=_holding("shifted")),
    replace(_HOLDS, name="pooled", open=_holding("pooled"), runs="pool"),
    replace(_HOLDS, name="refused", open=_cannot_be_opened),
    replace(_HOLDS, name="never", open=_never_opened),
    replace(_HOLDS, name="broken", open=_holding("broken", _broken)),
]


if __name__ == "__main__":
    cast(dict[str, Operation], OPERATIONS).update({operation.name: operation for operation in ADDED})
    respond.main()
