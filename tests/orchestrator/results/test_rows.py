"""Which rows are those of a kind of work, in a record and in a file of samples: everything else is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.record_layout import KINDS
from orchestrator.results.convert import read_record
from services.python.load.record import Record, Row

OK, TIMEOUT = 0, 4


def row(kind: str, sequence: int, sent_ns: int, received_ns: int, **other: int) -> Row:
    named = {"phase": 1, "connection": 0, "status": OK, "parent": 0} | other
    return Row(
        sequence=sequence,
        intended_ns=sent_ns,
        sent_ns=sent_ns,
        received_ns=received_ns,
        service_ns=-1,
        bytes_sent=8,
        bytes_received=8,
        kind=KINDS.index(kind),
        **named,
    )


def task(number: int, *, sample: str = "task") -> list[Row]:
    at = 100 * number
    return [
        row(sample, number, at, at + 50),
        row("part", 1, at, at + 20, parent=number),
        row("part", 2, at + 21, at + 50, parent=number),
    ]


def events(number: int, *came: int, at: int = 0) -> list[Row]:
    """A subscription and its events, which may stand on either side of it."""
    made = [row("event", one, at, at + 10 * place, parent=number) for place, one in enumerate(came, start=1)]
    return [*made[:1], row("request", number, at, at + 500), *made[1:]]


STREAM = [*events(1, 1, 2, 2, 4), *events(2), *events(3, 3, 1, at=1000)]


def event_changed(**values: Any) -> list[Row]:
    return [STREAM[0]._replace(**values), *STREAM[1:]]


RIGHT = [*task(1), *task(2), row("task", 3, 300, 300, status=TIMEOUT), *task(4)]
FAILED = [row("task", 5, 500, 540, status=TIMEOUT), row("part", 1, 501, 540, parent=5, status=TIMEOUT)]


def changed(place: int, **values: Any) -> list[Row]:
    return [r._replace(**values) if n == place else r for n, r in enumerate(RIGHT)]


def from_record(rows: list[Row], folder: Path, kind: Any, parts: int | None) -> int:
    with Record(folder / "record", len(rows)) as record:
        for values in rows:
            record.append_row(values)
    return len(read_record(folder / "record", kind=kind, parts=parts))


def test_tasks_with_their_parts_are_read(tmp_path):
    assert from_record([*RIGHT, *FAILED], tmp_path, "task", 2) == len(RIGHT) + len(FAILED)
    assert from_record([*task(1, sample="codec")], tmp_path, "codec", None) == 3


@pytest.mark.parametrize(
    ("rows", "kind", "why"),
    [
        (STREAM, "call", "it holds rows of kind event, which no cell of kind call has"),
        (RIGHT, "stream", "it holds rows of kind task, which no cell of kind stream has"),
        (event_changed(parent=9), "stream", "the parent of a row of kind event is no request of this record"),
        (event_changed(phase=0), "stream", "a row of kind event has another phase than its request"),
        (event_changed(connection=7), "stream", "a row of kind event has another connection than its request"),
        (event_changed(received_ns=501), "stream", "a row of kind event is not within the stamps of its request"),
        ([*STREAM, *events(1)], "stream", "is no request of this record, or several of them"),
        (changed(0, parent=2), "task", "a row of kind task has a parent"),
        (changed(3, sequence=1), "task", "is no task of this record, or several of them"),
        (changed(2, sequence=3), "task", "the parts of a task are not numbered 1, 2, 3, ..."),
        (changed(1, sent_ns=99), "task", "a row of kind part is not within the stamps of its task"),
        (changed(2, sent_ns=119), "task", "the parts of a task overlap, or are not in order"),
        (changed(1, status=TIMEOUT), "task", "a task is right, and a part of it is not"),
        ([RIGHT[0]], "task", "a task has another number of parts than 2"),
        (
            [*FAILED, row("part", 2, 540, 540, parent=5), row("part", 3, 540, 540, parent=5)],
            "task",
            "a task has another number of parts than 2",
        ),
    ],
)
def test_what_is_not_of_the_kind_is_refused_by_name(tmp_path, rows, kind, why):
    with pytest.raises(InvalidMeasurement, match=why):
        from_record(rows, tmp_path, kind, 2)


def test_in_a_record_parts_directly_follow_their_task(tmp_path):
    with pytest.raises(InvalidMeasurement, match="the parts of a task do not directly follow it"):
        from_record([task(1)[0], task(2)[0], *task(1)[1:], *task(2)[1:]], tmp_path, "task", 2)


def test_a_clock_that_there_is_not_is_refused_in_every_kind(tmp_path):
    with pytest.raises(InvalidMeasurement, match="sender_clock is 9"):
        from_record(changed(0, sender_clock=9), tmp_path, "task", 2)
