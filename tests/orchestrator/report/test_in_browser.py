"""The page in a real browser, opened from disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report import palette, render, write_report
from orchestrator.report.page import write_page
from orchestrator.summarise import summarise
from tests.support.browser import PROGRAM, browser
from tests.support.curves import a_run_with_curves
from tests.support.runs import a_run as a_measured_run
from tests.support.summaries import a_run, failed_run

pytestmark = [
    pytest.mark.browser,
    pytest.mark.busy,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH"),
]

DRAWN = "[...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg.main-svg'))"
RUN = a_run(stacks=3)


@pytest.fixture(scope="module")
def page():
    with browser() as found:
        yield found


@pytest.fixture(autouse=True)
def quiet(page):
    """Every test here ends with an empty console and with no request but for the file itself."""
    page.problems.clear()
    page.requests.clear()
    yield
    assert page.problems == []
    assert [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))] == []


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_in_the_systems_colours(page, tmp_path, scheme):
    page.open(write_report(RUN, tmp_path / "report.html"), scheme=scheme, height=8000)
    page.wait_for(DRAWN)

    theme = {"light": palette.LIGHT, "dark": palette.DARK}[scheme]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(theme["paper"])
    fills = page.evaluate(
        "[...document.querySelectorAll('[id^=chart-floor] .bars .point path')].map((bar) => getComputedStyle(bar).fill)"
    )
    assert {rgb(theme["series-0"]), rgb(theme["series-1"]), rgb(theme["floor-tcp"])} <= set(fills)


def test_charts_out_of_sight_are_drawn_when_one_comes_to_them(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=600)

    page.evaluate("document.querySelector('[id^=chart-timeline]').scrollIntoView()")

    page.wait_for("document.querySelector('[id^=chart-timeline] svg.main-svg') !== null")


def test_the_toggle_changes_page_and_charts(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=8000)
    page.wait_for(DRAWN)
    assert page.evaluate("document.getElementById('theme').textContent") == "Dark"

    page.evaluate("document.getElementById('theme').click()")

    tick = "getComputedStyle(document.querySelector('[id^=chart-floor] .annotation-text')).fill"
    page.wait_for(f"{tick} === {rgb(palette.DARK['ink'])!r}")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(palette.DARK["paper"])
    assert page.evaluate("document.getElementById('theme').textContent") == "Light"


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_width_makes_the_page_scroll_sideways(page, tmp_path, width):
    page.open(write_report(failed_run(), tmp_path / "report.html"), width=width, height=8000)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.wait_for(DRAWN)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
def test_an_interval_that_says_nothing_takes_no_more_room_than_one(page, tmp_path, width):
    vague = replace(RUN, cells=tuple(replace(cell, median_interval=(0.001, 900.0)) for cell in RUN.cells))
    widths = []
    for run in (RUN, vague):
        page.open(write_report(run, tmp_path / "report.html"), width=width, height=8000)
        widths.append(page.evaluate("document.querySelector('#table table.numbers').scrollWidth"))
    assert widths[1] <= widths[0]


def test_a_table_of_costs_is_as_wide_as_a_laptop_whatever_stacks_are_called(page, tmp_path):
    page.open(write_report(summarise(a_measured_run(blocks=3)), tmp_path / "report.html"), height=8000)
    labels = (
        "[...document.querySelectorAll('.costs .interval')]"  # where several are compared with, one of these names each
    )
    assert page.evaluate(f"{labels}.length") > 0
    page.evaluate(f"{labels}.forEach((one) => {{ one.textContent = 'to rest (starlette-granian, httpx-blocking):' }})")
    assert page.evaluate("document.querySelector('.costs').scrollWidth") <= 1232


def test_charts_have_no_toolbar_and_no_stops_of_the_tab_key(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=8000)
    page.wait_for(DRAWN)

    stops = (
        "[...document.querySelectorAll('a[href], button, summary, input, [tabindex]')]"
        ".filter((each) => each.tabIndex >= 0 && each.checkVisibility())"
    )
    assert page.evaluate("document.querySelectorAll('.modebar-btn, .plotlyjsicon').length") == 0
    assert page.evaluate(f"{stops}.filter((each) => each.closest('.chart')).length") == 0
    assert page.evaluate(f"{stops}.length") <= 60


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_charts_are_as_wide_as_there_is_room_for(page, tmp_path, width):
    page.open(write_report(RUN, tmp_path / "report.html"), width=width, height=9000)
    page.wait_for(DRAWN)
    widths = page.evaluate(
        "[...document.querySelectorAll('.chart .main-svg')].filter((one) => one.checkVisibility())"
        ".map((one) => one.getBoundingClientRect().width)"
    )
    assert widths
    assert min(widths) > 300
    assert max(widths) <= width


def test_on_a_phone_first_column_and_median_stay_in_view(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), width=360, height=9000)
    for section in ("#figures", "#table"):
        page.evaluate(f"document.querySelector('{section} .scroll').scrollLeft = 200")
        cells = f"[...document.querySelectorAll('{section} table')][0].querySelectorAll('tbody th, td.key')"
        boxes = page.evaluate(
            f"[...{cells}].map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().right])"
        )
        assert boxes
        assert all(left >= 0 and right <= 360 for left, right in boxes)


def test_one_series_is_shown_alone_by_click_and_by_keyboard(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), height=9000)
    page.wait_for(DRAWN)
    faint = (
        "[...document.querySelectorAll('#chart-ecdf-g1 .scatterlayer .trace')]"
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
        "document.querySelectorAll('.legend').length"
    )


def test_one_button_opens_and_closes_all_parts(page, tmp_path):
    page.open(write_report(failed_run(), tmp_path / "report.html"))
    closed, opened = (
        f"document.querySelectorAll('main details{state}').length" for state in (":not([open])", "[open]")
    )
    button = "document.getElementById('open-all')"
    page.evaluate(f"{button}.click()")
    assert page.evaluate(closed) == 0
    page.evaluate(f"{button}.click()")
    assert page.evaluate(opened) == 0
    assert page.evaluate(f"{button}.textContent") == "Open all parts"


def test_a_link_into_a_folded_part_opens_it(page, tmp_path):
    page.open(write_report(failed_run(), tmp_path / "report.html"))
    assert not page.evaluate("document.getElementById('check-noise').open")

    page.evaluate("document.querySelector('a[href=\"#check-noise\"]').click()")

    page.wait_for("document.getElementById('check-noise').open")


def test_paper_shows_each_group_and_what_failed_in_light_colours_and_the_screen_is_as_before_afterwards(page, tmp_path):
    page.open(write_report(failed_run(), tmp_path / "report.html"), scheme="dark", height=8000)
    page.wait_for(DRAWN)
    closed = "document.querySelectorAll('details:not([open])').length"
    parts = ", ".join(f"{part}:not([open])" for part in ("details.group:not(#in-full)", ".check.fail", ".check.warn"))
    wanted = f"document.querySelectorAll('{parts}').length"
    before = page.evaluate(closed)
    assert page.evaluate(wanted) > 0

    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(wanted) == 0
    assert page.evaluate("document.querySelectorAll('.numbers-behind[open], .check.pass[open]').length") == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(closed) == before

    page.print()
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')")
        == palette.LIGHT["paper"]
    )


@pytest.mark.parametrize(
    "run",
    [RUN, a_run(), failed_run(), a_run_with_curves(), a_run(placements=2, operations=2)],
    ids=["three", "six", "failed", "curves", "settings"],
)
@pytest.mark.parametrize("script", [True, False])
def test_the_first_part_is_two_pages_of_a4_at_most(page, tmp_path, run, script):
    path = write_page(
        render(run).replace("</style>", "@media print{.details{display:none!important}}</style>"),
        tmp_path / "report.html",
    )
    page.open(path, script=script)
    assert 1 <= page.pages_on_paper() <= 2


@pytest.mark.parametrize(("width", "is_shown"), [(360, True), (1600, False)])
def test_a_table_that_hides_figures_to_its_right_says_so_until_one_has_scrolled_there(page, tmp_path, width, is_shown):
    page.open(write_report(RUN, tmp_path / "report.html"), width=width, height=8000)
    hint = "document.querySelector('#table .scroll-hint').checkVisibility()"
    page.wait_for(f"{hint} === {'true' if is_shown else 'false'}")

    page.evaluate("document.querySelector('#table .scroll').scrollLeft = 100000")

    page.wait_for(f"{hint} === false")


@pytest.mark.parametrize("width", [360, 1280])
def test_without_javascript_answer_and_tables_are_there_and_no_box_is_empty(page, tmp_path, width):
    page.open(write_report(RUN, tmp_path / "report.html"), script=False, width=width)
    shown = page.text()

    assert "round-trips" in shown
    assert "pycurl" in shown
    assert page.count("#figures table, #table table") >= 2
    assert page.count(".chart, figure, .strips, #open-all, #theme, .save") == 0


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
        cells=tuple(replace(cell, stack_label=label) for cell in RUN.cells),
        comparisons=tuple(replace(row, stack_label=label, reference_label=label) for row in RUN.comparisons),
    )
    page.open(write_report(run, tmp_path / "report.html"), height=8000)
    page.wait_for(DRAWN)

    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("document.querySelectorAll('.chart a').length") == 0
    assert "<img" in page.evaluate("document.querySelector('[id^=chart-floor] .annotation-text').textContent")


@pytest.mark.parametrize("width", [360, 1280])
def test_curves_are_drawn_with_the_names_of_their_lines_within_the_page(page, tmp_path, width):
    page.open(write_report(a_run_with_curves(), tmp_path / "report.html"), width=width, height=24000)
    page.wait_for(DRAWN)

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    names = "[...document.querySelectorAll('#chart-curve-distance-1 .annotation-text')]"
    said = "".join(page.evaluate(f"{names}.map((name) => name.textContent)"))
    assert all(text in said for text in ("grpc", "rest", "(fastapi)", "100.40 ms", "100.70 ms"))
    box = "document.getElementById('chart-curve-distance-1').getBoundingClientRect()"
    assert page.evaluate(f"{names}.every((name) => name.getBoundingClientRect().right <= {box}.right + 1)")


def test_on_a_phone_a_scorecard_hides_nothing_to_its_right(page, tmp_path):
    measured = summarise(a_measured_run(blocks=3, stacks=("rest", "grpc", "cbor", "avro", "graphql", "socketio")))
    page.open(write_report(measured, tmp_path / "report.html"), width=360, height=8000)
    wide = "[...document.querySelectorAll('#scorecard .scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)"
    assert page.evaluate("document.querySelectorAll('table.scorecard').length") == 2
    assert page.evaluate(f"{wide}.map((one) => one.querySelector('table').className)") in ([], ["numbers"])
    entries = "[...document.querySelectorAll('.scorecard .entry')].filter((one) => one.checkVisibility())"
    assert page.evaluate(f"{entries}.length") >= 2 * 6 * 6
    assert page.evaluate(f"{entries}.every((one) => one.getBoundingClientRect().right <= 360)")
    assert page.evaluate("getComputedStyle(document.querySelector('.scorecard td'), '::before').content") == '"Best"'


def test_paper_has_every_picture_that_is_not_folded_and_none_is_wider_than_the_sheet(page, tmp_path):
    page.open(write_report(RUN, tmp_path / "report.html"), width=700, height=8000)
    page.wait_for(DRAWN)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.print()
    assert page.count("#timings .strips, #first, .numbers-behind, .passed, nav, #theme, .scroll-hint, .save") == 0
    assert page.count("#main-picture .main-svg, #floor .main-svg, #chart-timeline .main-svg") >= 3
    seen = "[...document.querySelectorAll('.main-svg')].filter((one) => one.checkVisibility())"
    assert page.evaluate(f"Math.max(...{seen}.map((one) => one.getBoundingClientRect().right))") <= 700
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
