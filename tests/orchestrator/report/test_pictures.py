"""Charts as files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree as ET

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError
from orchestrator.hosts import chromium
from orchestrator.report import palette, render
from orchestrator.report.charts import MOST_OF_A_KIND, Charts
from orchestrator.report.pictures import write_pictures
from orchestrator.summarise import summarise
from tests.orchestrator.questions.capacity.test_find import a_search, capacity
from tests.support.browser import PROGRAM
from tests.support.pages import Document
from tests.support.searched import a_search_run
from tests.support.summaries import a_run, failed_run

RUN = a_run(stacks=2)
PNG = b"\x89PNG\r\n\x1a\n"


def slugs(run):
    return [each.figure.slug for each in Charts(run).for_files()]


class Browser:
    """Puts the links into a page that its script would; keeps the pages that it opened."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def __call__(self, address: str) -> str:
        page = Path(unquote(urlparse(address).path)).read_text(encoding="utf-8")
        self.pages.append(page)
        return "".join(
            f'<a class="picture" download="{slug}.svg" href="data:image/svg+xml,%3Csvg%2F%3E"></a>'
            f'<a class="picture" download="{slug}.png" href="data:image/png;base64,iVBORw0KGgo="></a>'
            for slug in Document(page).figures()
        )


def test_there_are_two_files_for_every_chart_of_the_report(tmp_path):
    written = write_pictures(RUN, tmp_path / "deep" / "pictures", Browser())
    charts = Document(render(RUN)).figures()
    assert {path.name for path in written} == {f"{slug}.{kind}" for slug in charts for kind in ("svg", "png")}
    assert {path.read_bytes() for path in written} == {b"<svg/>", PNG}


@pytest.mark.parametrize(("run", "warned"), [(failed_run(), True), (RUN, False)])
def test_what_must_not_be_missed_is_in_each_page_of_pictures(tmp_path, run, warned):
    browser = Browser()
    write_pictures(run, tmp_path, browser)
    assert {'id="every-page"' in page for page in browser.pages} == {warned}


def test_of_searched_rates_the_pictures_of_single_rates_are_left_out():
    run = summarise(a_search_run(a_search(), capacity()))
    assert slugs(run)[0] == "rates-1"
    assert not [slug for slug in slugs(run) if slug.startswith("percentiles")]


def test_of_many_settings_some_of_each_kind_are_written():
    cells = [
        replace(cell, id=f"{cell.id}-{number}", operation=f"echo {number} B")
        for number in range(MOST_OF_A_KIND + 3)
        for cell in RUN.cells
    ]
    run = replace(RUN, cells=tuple(cells))
    kinds = Counter(slug.partition("-")[0] for slug in slugs(run))
    assert kinds["percentiles"] == MOST_OF_A_KIND


def test_a_browser_that_draws_less_or_fails_is_an_error(tmp_path):
    with pytest.raises(InvalidMeasurement, match="drew 0 of"):
        write_pictures(RUN, tmp_path, lambda _: "<html></html>")
    with pytest.raises(MissingError, match="/bin/false ended with status 1"):
        write_pictures(RUN, tmp_path, partial(chromium.browse, "/bin/false"))


@pytest.mark.browser
@pytest.mark.busy
@pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH")
def test_chromium_draws_both_kinds_in_light_colours(tmp_path):
    label = "<b>rest</b> & co"
    run = replace(RUN, cells=tuple(replace(cell, stack_label=label) for cell in RUN.cells))
    written = write_pictures(run, tmp_path, partial(chromium.browse, str(PROGRAM)))
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(PNG)
            assert path.stat().st_size > 5000
        else:
            text = path.read_text(encoding="utf-8")
            assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - ours
            assert "var(--" not in text
            red, green, blue = (int(palette.LIGHT["paper"][at : at + 2], 16) for at in (1, 3, 5))
            assert f"rgb({red}, {green}, {blue})" in text


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MissingError, match="cannot be used: Not a directory"):
        write_pictures(RUN, tmp_path / "file" / "x", Browser())
