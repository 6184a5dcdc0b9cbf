"""The decision maps in a real browser: dark, narrow, on paper, and without scripts."""

from __future__ import annotations

import pytest

from orchestrator.report import write_report
from orchestrator.summarise import summarise
from tests.support.browser import NEEDS_BROWSER
from tests.support.modelled_runs import a_map, a_mapped_run

pytestmark = NEEDS_BROWSER

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


def test_a_map_is_saved_as_a_picture_of_its_own(page, report):
    page.open(report)
    page.wait_for("document.querySelector('#map-1 .save') !== null")
    name, content = page.download("#map-1 .save")
    assert name == "chart-map-1.png"
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 5000


def test_paper_has_the_maps_with_their_tables_beside_them(page, report):
    page.open(report, width=700, height=6000)
    page.wait_for(DRAWN)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.print()
    assert page.count(".map .live") == 2
    assert page.evaluate(BESIDE)
