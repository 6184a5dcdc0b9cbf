from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.run_context import RunContext
from orchestrator.results.folder import RunFolder
from tests.support.hosts import rows


@dataclass
class Shelf:
    """A host of which only files are asked."""

    content: bytes
    name: str = "h1"

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        local.write_bytes(self.content)


def bring(folder: Path, content: bytes) -> Path:
    """Bring it as samples of a run folder; where it comes to lie."""
    run = RunFolder(folder)
    context = RunContext(plan=None, folder=run, clock=None, interrupts=Interrupts(), listener=None)
    context.bring(Shelf(content), PurePosixPath("/far/t.timings"), "samples/x.parquet")
    return run.raw_path("samples/x.parquet")


def test_a_record_is_brought_as_it_is(tmp_path):
    assert bring(tmp_path, rows(2, rtt_ns=500)).read_bytes() == rows(2, rtt_ns=500)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (rows(0), "nothing was recorded"),
        (rows(0) + bytes(112), "nothing was recorded"),
        (rows(1).replace(b"\2", b"\1", 1), "record version 1, this reads 2"),
        (rows(1)[:-1], "its 111 bytes after the header are no whole number of rows of 112"),
        (b"", "not a timing record: it does not begin with its magic bytes"),
        (
            rows(1, kind=2),
            "it holds rows of kind part, which no cell of kind call has",
        ),
        (
            rows(1, kind=-7),
            "it holds rows of kind number -7, which no cell of kind call has",
        ),
    ],
)
def test_what_cannot_be_read_is_not_kept_and_says_where_it_was(tmp_path, content, why):
    with pytest.raises(ValueError, match=f"^{re.escape(f't.timings on h1: {why}')}$"):
        bring(tmp_path, content)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
