"""The page in a real browser, opened from disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report import palette, render, write_report
from orchestrator.report.page import write_page
from tests.support.browser import NEEDS_BROWSER
from tests.support.findings import labelled
from tests.support.summaries import a_run, failed_run

pytestmark = NEEDS_BROWSER

OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
DRAWN = (
    "[...document.querySelectorAll('.chart')].filter((chart) => chart.checkVisibility())"
    ".every((chart) => chart.querySelector('svg.main-svg'))"
)
RUN = a_run(stacks=3)


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_in_the_systems_colours(page, tmp_path, scheme):
    page.open(write_report(RUN, tmp_path / "report.html"), scheme=scheme, height=8000)
    page.wait_for(DRAWN)

    theme = {"light": palette.LIGHT, "dark": palette.DARK}[scheme]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(theme["paper"])
    fills = page.evaluate(
        "[...document.querySelectorAll('[id^=chart-stacks] .points path')].map((dot) => getComputedStyle(dot).fill)"
    )
    assert {rgb(theme["pass"]), rgb(theme["ink"])} <= set(fills)


def test_charts_of_a_fold_are_drawn_when_one_opens_it(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=600)

    page.evaluate(OPEN)
    page.evaluate("document.querySelector('[id^=chart-strip]').scrollIntoView()")

    page.wait_for("document.querySelector('[id^=chart-strip] svg.main-svg') !== null")


def test_the_toggle_changes_page_and_charts(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=8000)
    page.wait_for(DRAWN)
    assert page.evaluate("document.getElementById('theme').textContent") == "Dark"

    page.evaluate("document.getElementById('theme').click()")

    tick = "getComputedStyle(document.querySelector('[id^=chart-stacks] .annotation-text')).fill"
    page.wait_for(f"{tick} === {rgb(palette.DARK['ink'])!r}")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(palette.DARK["paper"])
    assert page.evaluate("document.getElementById('theme').textContent") == "Light"


def test_one_series_is_shown_alone_by_click_and_by_keyboard(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=9000)
    page.evaluate(OPEN)
    page.wait_for(DRAWN)
    faint = (
        "[...document.querySelectorAll('#chart-percentiles-g1 .scatterlayer .trace')]"
        ".filter((one) => Number(getComputedStyle(one).opacity) < 0.5).length"
    )
    pressed = "[...document.querySelectorAll('.legend [aria-pressed=true]')].map((one) => one.textContent)"

    page.evaluate("document.querySelector('.legend button').click()")
    page.wait_for(f"{faint} === 4")
    assert page.evaluate(pressed) == ["grpc"]

    page.evaluate("document.querySelector('.legend button').focus()")
    page.press("ArrowRight")
    page.press("Enter")
    assert page.evaluate(pressed) == ["rest (fastapi)"]
    page.press("Escape")
    page.wait_for(f"{faint} === 0")
    assert page.evaluate("document.querySelectorAll('.legend button[tabindex=\"0\"]').length") == page.evaluate(
        "document.querySelectorAll('ul.legend').length"
    )


def test_a_link_into_a_folded_part_opens_it(page, tmp_path):
    page.open(write_report(failed_run(), tmp_path / "report.html"))
    assert not page.evaluate("document.getElementById('check-noise').open")

    page.evaluate("document.querySelector('a[href=\"#check-noise\"]').click()")

    page.wait_for("document.getElementById('check-noise').open")


@pytest.mark.parametrize(("width", "is_shown"), [(360, True), (1600, False)])
def test_a_table_that_hides_figures_to_its_right_says_so_until_one_has_scrolled_there(page, tmp_path, width, is_shown):
    page.open(write_report(RUN, tmp_path / "report.html"), width=width, height=8000)
    page.evaluate(OPEN)
    hint = "document.querySelector('#raw .scroll-hint').checkVisibility()"
    page.wait_for(f"{hint} === {'true' if is_shown else 'false'}")

    page.evaluate("document.querySelector('#raw .scroll').scrollLeft = 100000")

    page.wait_for(f"{hint} === false")


@pytest.mark.parametrize("width", [360, 1280])
def test_without_javascript_answer_first_chart_and_tables_are_there_and_no_box_is_empty(page, tmp_path, width):
    page.open(write_report(RUN, tmp_path / "report.html"), script=False, width=width)
    shown = page.text()

    assert "pycurl" in shown
    assert page.count("#figures table") >= 1
    assert page.count("#main-picture svg.dots circle") == 3
    assert page.count(".live, .chart:not(:has(svg)), .strips, #theme, .save, .filter") == 0


def test_the_pages_own_policy_stops_a_script_that_got_past_the_escaping(page, tmp_path):
    smuggled = render(RUN).replace(
        "<main", '<img src="x" onerror="window.pwned = 1"><script>window.pwned = 1</script><main'
    )
    page.open(write_page(smuggled, tmp_path / "report.html"), height=8000)

    page.wait_for("document.querySelector('.chart svg.main-svg') !== null")
    assert page.evaluate("window.pwned === undefined")
    assert any("Content Security Policy" in problem for problem in page.problems)
    page.problems.clear()


def test_hostile_labels_stay_text_in_charts(page, tmp_path):
    label = '<a href="https://e.example/">x</a><img src=x onerror="window.pwned = 1">'
    run = replace(
        RUN,
        cells=tuple(labelled(cell, stack=label) for cell in RUN.cells),
        comparisons=tuple(replace(row, stack_label=label, reference_label=label) for row in RUN.comparisons),
    )
    page.open(write_report(run, tmp_path / "report.html"), height=8000)
    page.wait_for(DRAWN)

    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("document.querySelectorAll('.chart a').length") == 0
    assert "<a href" in page.evaluate("document.querySelector('[id^=chart-stacks] .annotation-text').textContent")


def test_a_head_sorts_the_rows_and_the_floor_stays_last(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"))
    rows = (
        "[...document.querySelectorAll('#figures table.data tbody tr')].map((row) => row.cells[0].textContent.trim())"
    )
    before = page.evaluate(rows)
    median = "document.querySelectorAll('#figures table.data thead button')[2]"
    page.evaluate(f"{median}.click()")
    assert page.evaluate(rows) == before
    page.evaluate(f"{median}.click()")
    assert page.evaluate(rows) == [*reversed(before[:-1]), before[-1]]


def test_a_word_leaves_the_rows_that_hold_it_and_the_floor(page, tmp_path):
    page.open(write_report(a_run(), tmp_path / "report.html"))
    rows = "#figures table.data tbody tr"
    shown = f"[...document.querySelectorAll('{rows}:not([hidden])')].map((row) => row.cells[0].textContent)"
    assert page.count(rows) > page.evaluate(
        "(() => { const input = document.querySelector('#figures .filter'); input.value = ' GRPC ';"
        f" input.dispatchEvent(new Event('input')); return {shown}.length; }})()"
    )
    *labels, floor = page.evaluate(shown)
    assert labels
    assert all("grpc" in text for text in labels)
    assert "floor" in floor


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_shows_question_result_conditions_and_chart(page, tmp_path, width, height):
    page.open(write_report(a_run(), tmp_path / "report.html"), width=width, height=height)
    page.wait_for(DRAWN)
    bottom = "Math.max(...[...document.querySelectorAll('h1, .lines, .conditions, #main-picture .main-svg')]"
    assert page.evaluate(f"{bottom}.map((one) => one.getBoundingClientRect().bottom))") <= height


def test_paper_has_the_first_part_in_light_colours_on_four_sheets_at_most(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), scheme="dark")
    page.wait_for(DRAWN)
    assert 1 <= page.pages_on_paper() <= 4
    page.print()
    assert page.count(".fold, #theme, .scroll-hint, .save") == 0
