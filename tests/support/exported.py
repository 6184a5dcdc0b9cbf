"""A workspace with runs to export, and what was exported, read back by other means than orch's own."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from orchestrator.cli.console import console
from orchestrator.cli.results import export
from orchestrator.experiment.plan import plan as p
from tests.support.drafts import Draft
from tests.support.event_runs import FAR
from tests.support.runs import a_plan, a_run, write_run

SOUND, BROKEN, FORMULA = "20261121-025500-one-aaaa", "20261121-030000-two-bbbb", "20261121-040000-three-cccc"
EVIL = '=HYPERLINK("http://example.org","click")'
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def workspace(root: Path) -> Path:
    """Three small runs: a sound one; one over an emulated distance, of which a cell is impossible; one with a formula."""
    results = root / "results"
    load = p.Load(concurrency=1, requests=200)
    write_run(a_run(blocks=3), results / SOUND)
    far = replace(a_plan(blocks=3, load=load, warmup=10, placements=[FAR]), provider="lab", name="far")
    write_run(a_run(far, spoil=impossible), results / BROKEN)
    plan = a_plan(blocks=3, load=load, warmup=10)
    write_run(a_run(replace(plan, name=EVIL, question="a | b <i>\u202e?")), results / FORMULA)
    return root


def impossible(draft: Draft) -> None:
    """Every reply to `rest` came at once: no network is so fast."""
    if draft.cell.factors["protocol"] == "rest":
        draft.columns["received_ns"] = draft.columns["sent_ns"] + 1_000


@contextmanager
def standing_in(folder: Path) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Calls are made from this folder; what goes to stdout and to stderr meanwhile."""
    before = Path.cwd(), console.out, console.err, console.as_json
    os.chdir(folder)
    console.out, console.err, console.as_json = io.StringIO(), io.StringIO(), False
    try:
        yield console.out, console.err
    finally:
        os.chdir(before[0])
        _, console.out, console.err, console.as_json = before


def exported(root: Path, *runs: str, **options: Any) -> tuple[Path, str]:
    """Where `orch export` in this workspace wrote, and what it said on stderr."""
    with standing_in(root) as (out, err):
        export.export(list(runs), **options)
    return root / out.getvalue().strip(), err.getvalue()


def sheets(path: Path) -> dict[str, list[list[Any]]]:
    """The values of an Excel file's sheets by name: text, numbers and truth values; AssertionError for a formula."""
    with zipfile.ZipFile(path) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314 - orch has just written it
        names = [sheet.attrib["name"] for sheet in book.iter(f"{_MAIN}sheet")]
        return {
            name: [_values(row) for row in _sheet(archive, number).iter(f"{_MAIN}row")]
            for number, name in enumerate(names, start=1)
        }


def _sheet(archive: zipfile.ZipFile, number: int) -> ElementTree.Element:
    content = archive.read(f"xl/worksheets/sheet{number}.xml")
    sheet = ElementTree.fromstring(content)  # noqa: S314
    assert not list(sheet.iter(f"{_MAIN}f")), "a formula"
    assert b"hyperlink" not in content, "a link"
    return sheet


def _values(row: ElementTree.Element) -> list[Any]:
    found: list[Any] = []
    for cell in row.iter(f"{_MAIN}c"):
        letters = re.sub(r"\d", "", cell.attrib["r"])
        place = 0
        for letter in letters:
            place = place * 26 + ord(letter) - 64
        found += [None] * (place - 1 - len(found))
        kind = cell.attrib.get("t", "n")
        text = "".join(part.text or "" for part in cell.iter() if part.tag in (f"{_MAIN}t", f"{_MAIN}v"))
        found.append(text if kind == "inlineStr" else bool(int(text)) if kind == "b" else float(text) if text else None)
    return found
