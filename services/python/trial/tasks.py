"""The tasks of a trial, and what of its replies is needed.

A task is one operation so many times in a row, or the operations that one is made of (the knob `fetch`). The knob
`fields` says whether a reader needs all of a reply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.python.contract.knobs import AT_ONCE, FETCH, HTTP, HTTP_2, IN_A_ROW, WHOLE
from services.python.contract.lines import Trial
from services.python.load.client import Request
from services.python.load.task import AwaitingTasks, BlockingTasks, Piece, Pieces, make_pieces, make_task
from services.python.operations import OPERATIONS, pieces_of
from services.python.operations.base import Make
from services.python.trial.parts import Parts, Verify, verifier

Clock = Callable[[], int]


def over_fetched_bytes(verify: Verify, dialer: Any) -> float | None:
    """Bytes that nobody needs in a reply, or in those of a task, on average; None where everything is needed."""
    every = [piece.verify for piece in getattr(dialer, "pieces", ())] or [verify]
    found = [getattr(each, "over_fetched_bytes", None) for each in every]
    return None if None in found else sum(bytes_ or 0.0 for bytes_ in found)


def is_at_once(trial: Trial) -> bool:
    """Whether a task's calls are all made without waiting for one another."""
    return trial.knobs.get(FETCH, WHOLE) == AT_ONCE


def make_of(trial: Trial, parts: Parts) -> Make:
    """Makes what the load loop is to ask: single requests, or those of a task."""
    if trial.calls == 1:
        return parts.make
    if trial.knobs.get(FETCH, WHOLE) == WHOLE:
        return make_task(parts.make, trial.calls)
    return make_pieces(parts.operation, parts.make)


def tasks_of(trial: Trial, parts: Parts, example: Request, dialer: Any, clock: Clock) -> Any:
    """What opens connections that make tasks; `dialer` is that of the operation itself."""
    fetch = trial.knobs.get(FETCH, WHOLE)
    if fetch == WHOLE:
        tasks = BlockingTasks if parts.client.style == "sync" else AwaitingTasks
        return tasks(dialer, parts.verify, clock, parts.operation.follow)
    asked = zip(parts.operation.made_of, pieces_of(parts.operation, example), strict=True)
    return Pieces(
        pieces=[
            Piece(name=name, dialer=parts.dialer(name, request), verify=verifier(trial, OPERATIONS[name]))
            for name, request in asked
        ],
        clock=clock,
        at_once=is_at_once(trial),
        on_one=fetch == IN_A_ROW or trial.knobs.get(HTTP) == HTTP_2,
    )
