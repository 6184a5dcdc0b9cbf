"""The decision maps in a real browser: dark, narrow, on paper, and without scripts."""

from __future__ import annotations

import pytest

from orchestrator.report import palette, write_report
from orchestrator.summarise import summarise
from tests.support.browser import PROGRAM, browser
from tests.support.modelled_runs import a_map, a_mapped_run

pytestmark = [
    pytest.mark.browser,
    pytest.mark.busy,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH"),
]

BESIDE = """
[...document.querySelectorAll('.map')].every((map) =>
  map.querySelector('.wide').getBoundingClientRect().left >= map.querySelector('.main-svg').getBoundingClientRect().right)
"""
DRAWN = "[...document.querySelectorAll('.map')].every((map) => map.querySelector('svg.main-svg'))"


@pytest.fixture(scope="module")
def summary():
    return summarise(a_mapped_run(a_map(connections=("reuse", "per-request"))))


@pytest.fixture(scope="module")
def report(summary, tmp_path_factory):
    return write_report(summary, tmp_path_factory.mktemp("maps") / "report.html")


@pytest.fixture(scope="module")
def page():
    with browser() as found:
        yield found


@pytest.fixture(autouse=True)
def quiet(page):
    page.problems.clear()
    page.requests.clear()
    yield
    assert page.problems == []
    assert [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))] == []


def test_a_map_is_saved_as_a_picture_of_its_own(page, report):
    page.open(report)
    page.wait_for("document.querySelector('#map-1 .save') !== null")
    name, content = page.download("#map-1 .save")
    assert name == "chart-map-1.png"
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 5000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_maps_have_the_colours_of_the_theme(page, report, scheme):
    theme = {"light": palette.LIGHT, "dark": palette.DARK}[scheme]
    page.open(report, scheme=scheme, height=9000)
    page.wait_for(DRAWN)
    found = page.evaluate("getComputedStyle(document.querySelector('#map-1 .annotation-text')).fill")
    ink = theme["ink"]
    assert found == f"rgb({', '.join(str(int(ink[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_nothing_is_cut_off_at_360_pixels(page, report):
    page.open(report, width=360, height=12000)
    page.wait_for(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(
        "[...document.querySelectorAll('.map .main-svg')].every((each) => each.getBoundingClientRect().right <= 360)"
    )


def test_without_scripts_tables_are_there_and_maps_are_not(page, report):
    page.open(report, script=False)
    assert page.count(".map .chart") == 0
    assert page.count(".map table") == 2


def test_paper_has_the_maps_with_their_tables_beside_them(page, report):
    page.open(report, width=700, height=6000)
    page.wait_for(DRAWN)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.print()
    assert page.count(".map .live") == 2
    assert page.evaluate(BESIDE)
