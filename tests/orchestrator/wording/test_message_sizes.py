"""The answer says how many bytes messages are, where that is part of the question: terminal, report and JSON alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan.plan import Contrast, Operation
from orchestrator.findings.summary import RunSummary, Sizes
from orchestrator.quantities import fewer_or_more
from orchestrator.summarise import summarise
from orchestrator.wording.message_sizes import sentences
from orchestrator.wording.notes import notes
from tests.support.codec_runs import a_codec_run
from tests.support.runs import Draft, a_plan, a_run

BY_COMPRESSION = Contrast(factor="compression", references=("none",))
ECHO = Operation(id="echo", name="echo", label="echo 20 records", request_bytes=1980, reply_bytes=1980)


def shrink(draft: Draft, by: int) -> None:
    """Make the bodies of a trial smaller, and what carries them."""
    for direction in ("sent", "received"):
        draft.columns[f"bytes_{direction}"] //= by
        of = f"body_bytes_{direction}"
        saved = draft.done[of] - draft.done[of] // by
        draft.done[of] -= saved
        draft.done["wire"][f"bytes_{direction}"] -= saved


def gzip_or_not(by: int = 4) -> RunSummary:
    def compress(draft: Draft) -> None:
        if draft.cell.factors["compression"] == "gzip":
            shrink(draft, by)

    plan = a_plan(calls=[{"compression": how} for how in ("none", "gzip")], contrasts=[BY_COMPRESSION], operation=ECHO)
    return summarise(a_run(plan, spoil=compress))


@pytest.fixture(scope="module")
def compressed() -> RunSummary:
    return gzip_or_not()


SAID = (
    "Bodies of request and reply together: echo 20 records: rest (thin) 1,000 B with gzip, 4,000 B with no compression "
    "(75 % fewer; on the wire 1,120 B and 4,120 B), grpc (thin) 1,000 B with gzip, 4,000 B with no compression "
    "(75 % fewer; on the wire 1,120 B and 4,120 B)."
)


def test_what_compression_saves_stands_in_the_answer_of_the_terminal(compressed):
    text = " ".join(" ".join(answer_lines(compressed, width=120)).split())
    assert SAID in text
    assert "request body reply body sent on the wire received on the wire" in text
    assert "rest (thin) with gzip 500.0 500.0 560.0 560.0" in text
    assert "rest (thin) with no compression 2,000.0 2,000.0 2,060.0 2,060.0" in text


def test_bodies_that_are_alike_are_not_talked_about():
    assert not any("on the wire" in line for line in answer_lines(gzip_or_not(by=1)))


def test_bytes_of_an_invalid_cell_are_not_said(compressed):
    def wrong(draft: Draft) -> None:
        if draft.cell.factors["compression"] == "gzip":
            shrink(draft, 4)
            draft.columns["status"][:] = 2

    plan = a_plan(calls=[{"compression": how} for how in ("none", "gzip")], contrasts=[BY_COMPRESSION], operation=ECHO)
    run = summarise(a_run(plan, spoil=wrong))
    assert not any(text.startswith("Bodies of request") for text in notes(run))


def test_of_stacks_the_terminal_shows_bytes_where_they_fill_more_than_a_packet_and_differ():
    def compact(draft: Draft) -> None:
        if draft.cell.stack.startswith("grpc"):
            shrink(draft, 2)

    def shown(operation: Operation | None) -> bool:
        found = summarise(a_run(a_plan(operation=operation), spoil=compact))
        return any("request body" in line for line in answer_lines(found))

    assert shown(ECHO)
    assert not shown(None)


def test_of_many_codecs_the_smallest_and_the_largest_are_named():
    summary = summarise(a_codec_run())
    first = summary.cells[0]
    sizes = {"json": 61.0, "orjson": 61.0, "cbor": 40.0, "avro": 12.5, "protobuf": 12.5, "msgpack": 39.0}
    cells = [
        replace(first, id=label, stack_label=label, sizes=Sizes(body=(size, 0.0))) for label, size in sizes.items()
    ]
    assert sentences(cells, (), 0.05) == (
        "Encoded, request and reply together: add: from 12.5 B with avro and protobuf to 61 B with json and orjson.",
    )


@pytest.mark.parametrize(("ratio", "text"), [(0.23, "77 % fewer"), (1.4, "40 % more"), (3.0, "3.00 times as many")])
def test_counts_are_compared_in_words(ratio, text):
    assert fewer_or_more(ratio) == text


def test_operations_of_the_same_sizes_are_named_once():
    run = a_codec_run()
    changes = ("none", "added")
    cells = [
        replace(cell, id=f"{cell.id}-{change}", operation=f"evolution 3 records, schema change: {change}")
        for cell in summarise(run).cells[:2]
        for change in changes
    ]
    (said,) = sentences(cells, (), 0.05)
    assert said.count("evolution 3 records, whatever the change of schema: ") == 1
    assert "schema change: " not in said
