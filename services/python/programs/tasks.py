"""The tasks of a trial: one operation so many times in a row, or the operations that it is made of (the knob `fetch`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.python.contract.knobs import FETCH, HTTP, HTTP_2, IN_A_ROW, WHOLE
from services.python.contract.lines import Trial
from services.python.load.client import Request
from services.python.load.task import AwaitingTasks, BlockingTasks, make_task
from services.python.operations import OPERATIONS, pieces_of
from services.python.operations.base import Make
from services.python.programs.parts import Parts

Clock = Callable[[], int]


def make_of(trial: Trial, parts: Parts) -> Make:
    """Makes what the load loop is to ask: single requests, or those of a task."""
    if trial.calls == 1:
        return parts.make
    if trial.knobs.get(FETCH, WHOLE) == WHOLE:
        return make_task(parts.make, trial.calls)
    from services.python.load.pieces import make_pieces

    return make_pieces(parts.operation, parts.make)


def tasks_of(trial: Trial, parts: Parts, example: Request, dialer: Any, clock: Clock) -> Any:
    """What opens connections that make tasks; `dialer` is that of the operation itself."""
    fetch = trial.knobs.get(FETCH, WHOLE)
    if fetch == WHOLE:
        tasks = BlockingTasks if parts.client.style == "sync" else AwaitingTasks
        return tasks(dialer, parts.operation.verify, clock)
    from services.python.load.pieces import Piece, Pieces

    asked = zip(parts.operation.made_of, pieces_of(parts.operation, example), strict=True)
    return Pieces(
        pieces=[Piece(operation=OPERATIONS[name], dialer=parts.dialer(name, request)) for name, request in asked],
        clock=clock,
        at_once=fetch != IN_A_ROW,
        on_one=fetch == IN_A_ROW or trial.knobs.get(HTTP) == HTTP_2,
    )
