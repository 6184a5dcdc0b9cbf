"""The decision maps in a real browser: sliders, keyboard, dark, narrow, on paper, and without scripts."""

from __future__ import annotations

import numpy as np
import pytest
from orchestrator.questions.prediction.rules import bytes_text

from orchestrator import quantities
from orchestrator.questions.prediction.answer import Asked, answer
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.surface import round_surface, ways
from orchestrator.report import palette, write_report
from orchestrator.summarise import summarise
from tests.support.browser import PROGRAM, browser
from tests.support.modelled import predicted
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
READY = "[...document.querySelectorAll('.place')].every((place) => !place.hidden)"
DRAWN = "[...document.querySelectorAll('.map')].every((map) => map.querySelector('svg.main-svg'))"
SAID = "document.querySelector('#map-1 .place').innerText"


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


def place(page, rtt: str, size: str) -> None:
    """Move both sliders to round numbers, as their texts have them."""
    for name, wanted in (("rtt", rtt), ("size", size)):
        page.evaluate(f"""(() => {{
            const input = document.getElementById('map-1-{name}');
            for (let at = 0; at <= Number(input.max); at += 1) {{
              input.value = at;
              input.dispatchEvent(new Event('input'));
              if (input.getAttribute('aria-valuetext') === '{wanted}') return;
            }}
            throw new Error('no place {wanted}');
        }})()""")


def test_sliders_say_what_predict_says(page, report, summary):
    page.open(report)
    page.wait_for(READY)
    place(page, "30 ms", "20 kB")
    text = page.evaluate(SAID)
    assert "30 ms" in text
    assert "20 kB" in text
    for fit in PREDICTION.of(summary).fits:
        if fit.series.connection == "reuse":
            exact = predicted(fit, 30.0, 20_000, fit.rate_range[0])
            assert f"{exact.latency:.3g} ms" in text
            assert f"distance {exact.causes['distance']:.3g} ms" in text
    assert "It does not matter: all lie within 10 % of grpc (thin)." in text


def test_where_one_is_ahead_the_page_says_the_sentence_of_predict(page, summary, report):
    page.open(report)
    page.wait_for(READY)
    way = ways(PREDICTION.of(summary), summary.matters)[0]
    of = round_surface(way)
    won = [at for at in np.argwhere(of.codes > 0).tolist() if len(of.names(int(of.codes[tuple(at)]))) == 1]
    assert won
    for column, line in won[:: max(1, len(won) // 5)]:
        rtt, size = float(of.rtts[column]), int(of.sizes[line])
        place(page, quantities.ms(rtt), bytes_text(size))
        asked = Asked(rtt=rtt, size=size, rate_mbit=way.rate_mbit, connection=way.connection)
        (setting,) = answer(PREDICTION.of(summary), asked, summary.matters).settings
        assert page.evaluate("document.querySelector('#map-1 .outcome').textContent") == setting.said


def test_sliders_move_by_keyboard_and_say_their_value(page, report):
    page.open(report)
    page.wait_for(READY)
    page.evaluate("document.getElementById('map-1-rtt').focus()")
    before = page.evaluate("document.getElementById('map-1-rtt').getAttribute('aria-valuetext')")
    page.press("ArrowRight")
    after = page.evaluate("document.getElementById('map-1-rtt').getAttribute('aria-valuetext')")
    assert before != after
    assert after == page.evaluate("document.getElementById('map-1-rtt-said').textContent")
    page.press("Home")
    assert page.evaluate("document.getElementById('map-1-rtt').value") == "0"
    page.press("Tab")
    assert page.evaluate("document.activeElement.id") == "map-1-size"


def test_a_map_is_saved_as_a_picture_of_its_own(page, report):
    page.open(report)
    page.wait_for(READY)
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
        "[...document.querySelectorAll('.map .main-svg, .place, .place input')].every("
        "(each) => each.getBoundingClientRect().right <= 360)"
    )


def test_without_scripts_tables_are_there_and_maps_and_sliders_are_not(page, report):
    page.open(report, script=False)
    assert page.count(".map .chart") == 0
    assert page.count(".map table") == 2
    assert page.count(".place") == 0


def test_paper_has_the_maps_with_their_tables_beside_them_and_no_sliders(page, report):
    page.open(report, width=700, height=6000)
    page.wait_for(DRAWN)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.print()
    assert page.count(".map .live") == 2
    assert page.count(".place") == 0
    assert page.evaluate(BESIDE)
