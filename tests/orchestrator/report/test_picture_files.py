"""Charts as files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator.analysis import naming
from orchestrator.analysis.summarise import summarise
from orchestrator.errors import UsageError
from orchestrator.experiment.read.units import format_rate
from orchestrator.hosts import chromium
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.report import palette, render
from orchestrator.report.charts import MOST_OF_A_KIND
from orchestrator.report.picture_files import Pictures, pictures, write_pictures
from tests.orchestrator.questions.capacity.test_find import a_search, capacity
from tests.support.browser import PROGRAM
from tests.support.drawings import parsed
from tests.support.pages import Document
from tests.support.searched import a_search_run
from tests.support.summaries import a_run, failed_run

RUN = a_run(stacks=2)
TEXT = "{http://www.w3.org/2000/svg}text"
PNG = b"\x89PNG\r\n\x1a\n"


def test_there_is_a_file_for_every_chart_of_the_report():
    charts = Document(render(RUN)).figures()
    assert set(pictures(RUN).by_name) == {f"{slug}.svg" for slug in charts}


def test_each_is_a_document_of_its_own_with_title_ground_and_colours():
    for name, text in pictures(RUN).by_name.items():
        found = parsed(text)
        assert found.tag == "{http://www.w3.org/2000/svg}svg", name
        assert "var(" not in text
        assert palette.LIGHT["paper"] in text
        assert "".join(found.find("{http://www.w3.org/2000/svg}text").itertext()).strip()


def test_a_text_that_looks_like_a_colour_stays_a_text():
    cells = tuple(replace(cell, stack_label="var(--x) var(--ink)") for cell in RUN.cells)
    for name, text in pictures(replace(RUN, cells=cells)).by_name.items():
        assert "var(--x)" not in re.sub(r">[^<]*<", "><", text), name
        assert parsed(text).tag.endswith("svg")
    assert any("var(--x) var(--ink)" in text for text in pictures(replace(RUN, cells=cells)).by_name.values())


def test_dark_ones_have_the_dark_colours_and_names_of_their_own():
    light, dark, both = pictures(RUN).by_name, pictures(RUN, ["dark"]).by_name, pictures(RUN, ["light", "dark"]).by_name
    assert set(dark) == {name.replace(".svg", "-dark.svg") for name in light}
    assert both == light | dark
    for name, text in dark.items():
        assert palette.DARK["paper"] in text, name
        assert palette.LIGHT["paper"] not in text
        assert "var(" not in text


def test_what_must_not_be_missed_stands_in_each():
    placement = {"id": "far", "name": "far", "kind": "cross-region", "link": {"rtt_ms": 30.0}}
    emulated = replace(RUN, plan={**RUN.plan, "provider": "lab", "placements": [placement]})
    for run, said in ((emulated, "Emulated distance, no real network: far 30 ms"), (failed_run(), "1 check failed")):
        for name, text in pictures(run).by_name.items():
            assert said in " ".join("".join(line.itertext()) for line in parsed(text).findall(TEXT)), name
    assert not any("mulated" in text for text in pictures(RUN).by_name.values())


def test_rates_that_were_searched_come_first_with_what_was_found():
    run = summarise(a_search_run(a_search(), capacity()))
    name, text = next(iter(pictures(run).by_name.items()))
    assert name == "rates-1.svg"
    assert "p50 < 10 ms" in "".join(parsed(text).itertext())
    said = ["".join(line.itertext()) for line in parsed(text).iter(TEXT)]
    for found in CAPACITY.of(run).rates:
        assert any(format_rate(found.rate_per_s or 0) in line for line in said)


def test_the_title_of_searched_rates_says_what_they_are():
    run = summarise(a_search_run(a_search(), capacity()))
    title = "Highest rate while p50 < 10 ms: operation add, placement local, connections kept open"
    assert naming.of_rates("add, local, reuse", "p50 < 10 ms", run.cells) == title
    page = Document(render(run))
    assert title in page.text
    assert f"{title}." in "".join(parsed(pictures(run).by_name["rates-1.svg"]).itertext())


def test_of_searched_rates_the_pictures_of_single_rates_are_left_out_and_counted():
    found = pictures(summarise(a_search_run(a_search(), capacity())))
    assert not any(name.startswith(("ecdf", "percentiles", "floor")) for name in found.by_name)
    assert "rates-1.svg" in found.by_name
    assert re.search(r"single rates that were tried: .*\d+ of distributions", found.left_out)


def test_of_many_settings_some_of_each_kind_are_written_and_the_others_counted(tmp_path):
    cells = [
        replace(cell, id=f"{cell.id}-{number}", operation=f"echo {number} B")
        for number in range(MOST_OF_A_KIND + 3)
        for cell in RUN.cells
    ]
    written = write_pictures(replace(RUN, cells=tuple(cells)), tmp_path, None)
    kinds = Counter(path.name.partition("-")[0] for path in written.files)
    assert kinds["ecdf"] == kinds["percentiles"] == MOST_OF_A_KIND
    assert "3 of distributions" in written.left_out
    assert not write_pictures(RUN, tmp_path / "few", None).left_out


def test_without_a_browser_the_svg_are_complete(tmp_path):
    written = write_pictures(RUN, tmp_path / "deep" / "pictures", None)
    assert {path.name for path in written.files} == set(pictures(RUN).by_name)
    assert all(path.is_file() for path in written.files)
    assert not written.troubles


def test_a_browser_that_fails_is_named_once_and_the_svg_are_there(tmp_path):
    written = write_pictures(RUN, tmp_path, partial(chromium.draw, "/bin/false"))
    assert len(written.troubles) == 1
    assert "/bin/false ended with status 1" in written.troubles[0]
    assert {path.suffix for path in written.files} == {".svg"}


def test_a_browser_draws_each_as_png(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nfor a; do case $a in --screenshot=*) printf x > ${a#--screenshot=};; esac; done\n")
    program.chmod(0o755)
    written = write_pictures(RUN, tmp_path / "pictures", partial(chromium.draw, str(program)))
    assert {p.stem for p in written.files if p.suffix == ".png"} == {
        p.removesuffix(".svg") for p in pictures(RUN).by_name
    }


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH")
def test_chromium_draws_a_png(tmp_path, monkeypatch):
    first, *_ = pictures(RUN).by_name.items()
    monkeypatch.setattr(
        "orchestrator.report.picture_files.pictures", lambda *_: Pictures(by_name=dict([first]), left_out="")
    )
    written = write_pictures(RUN, tmp_path, partial(chromium.draw, str(PROGRAM)))
    assert written.troubles == ()
    (png,) = (path for path in written.files if path.suffix == ".png")
    assert png.read_bytes().startswith(PNG)
    assert png.stat().st_size > 5000


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written to") as raised:
        write_pictures(RUN, Path(tmp_path / "file" / "x"), None)
    assert "--pictures" in (raised.value.hint or "")
