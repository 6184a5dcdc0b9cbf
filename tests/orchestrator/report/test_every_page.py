from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from orchestrator.report.check_groups import marks
from orchestrator.report.page import css_text
from orchestrator.report.render import render
from tests.support.browser import FLAGS, PROGRAM
from tests.support.pages import Document
from tests.support.summaries import a_run, failed_run

LINK = {"rtt_ms": 30.0}


def with_provider(run, provider):
    placements = [
        {"id": "here", "name": "here", "kind": "local", "link": {}},
        {"id": "far", "name": "far", "kind": "cross-region", "link": LINK},
        {"id": "near", "name": "near", "kind": "same-zone", "link": {"rtt_ms": None}},
    ]
    return replace(run, plan={**run.plan, "provider": provider, "placements": placements})


def test_an_emulated_distance_stands_above_everything_and_on_each_sheet():
    page = render(with_provider(a_run(), "lab"))
    mark = "Emulated distance, no real network: far 30 ms and near"
    assert mark in Document(page).text
    assert page.index(mark) < page.index("<h1>")
    rule = re.search(r"@page \{[^}]*@top-left \{ content: \"([^\"]*)\"", page)
    assert rule is not None
    assert rule[1].startswith(mark)


def test_a_real_network_and_one_machine_are_no_emulation():
    assert marks(with_provider(a_run(), "gcp")) == ()
    assert marks(with_provider(a_run(), "local")) == ()
    assert "@top-left" not in render(a_run())


def test_failed_checks_are_named_with_what_they_mean():
    (mark,) = marks(failed_run())
    assert re.match(r"\d+ checks? failed", mark)
    assert "invalid" in mark


def test_a_name_ends_no_style_sheet():
    assert css_text('</style>"\\;}') == r"\3c /style\3e \22 \5c ;\7d "


@pytest.mark.browser
@pytest.mark.busy
@pytest.mark.skipif(PROGRAM is None or shutil.which("pdftotext") is None, reason="no chromium or pdftotext on PATH")
def test_each_printed_sheet_is_headed_by_it(tmp_path):
    page, pdf = tmp_path / "x.html", tmp_path / "x.pdf"
    run = failed_run()
    page.write_text(render(run), encoding="utf-8")
    printer = [str(PROGRAM), "--headless", *FLAGS, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri()]
    subprocess.run(printer, check=True, capture_output=True, timeout=120)
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True).stdout.decode()
    sheets = text.split("\f")[:-1]
    assert sheets
    assert {sheet.strip().splitlines()[0].strip() for sheet in sheets} == set(marks(run))
