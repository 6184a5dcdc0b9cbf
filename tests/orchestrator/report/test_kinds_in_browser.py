"""What holds for the report of every kind of run, in a real browser: width, contrast, keyboard, downloads, paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import Find
from orchestrator.findings.summary import RunSummary
from orchestrator.report import render
from orchestrator.report.page import write_page
from orchestrator.summarise import summarise
from tests.orchestrator.questions.capacity.test_find import a_search, capacity
from tests.support.browser import NEEDS_BROWSER, Page
from tests.support.codec_runs import a_codec_run
from tests.support.curves import a_run_with_curves
from tests.support.event_runs import a_stream_run
from tests.support.runs import a_run as a_measured_run
from tests.support.searched import P50, a_search_run
from tests.support.summaries import a_run, failed_run

pytestmark = NEEDS_BROWSER

FEW_STEPS = Find(goals=P50, lowest=100.0, highest=1600.0, steps=6)
CALLS = ("rest", "grpc", "http+cbor", "http+avro", "graphql", "socketio")
KINDS: dict[str, Callable[[], RunSummary]] = {
    "calls": lambda: summarise(a_measured_run(blocks=3, stacks=CALLS)),
    "events": lambda: summarise(a_stream_run()),
    "codecs": lambda: summarise(a_codec_run()),
    "rates": lambda: summarise(a_search_run(a_search(repeats=3, find=FEW_STEPS), capacity())),
    "curves": a_run_with_curves,
    "settings": lambda: a_run(placements=2, operations=2),
    "failed": failed_run,
}
ALL = pytest.mark.parametrize("kind", list(KINDS))
LEAST_CONTRAST = 4.5  # of text (WCAG 2.2, 1.4.3), 3 where it is large
MOST_STOPS = 80  # of the Tab key, of which each folded part is one
MOST_STOPS_OF_THE_FIRST_PART = 15
LEAST_LETTER_PX = 10.9
LEAST_TARGET_PX = 24
# Each width, and each scheme on a wide page.
VIEWS = ((360, "dark"), (768, "light"), (1280, "dark"))

# Scrolls to each chart that is seen and waits for it, for at most a minute each; true when all are drawn.
DRAW_ALL = """
(async () => {
  for (const chart of document.querySelectorAll(".chart")) {
    if (!chart.checkVisibility()) continue;
    chart.scrollIntoView();
    const end = Date.now() + 60_000;
    while (!chart.querySelector("svg.main-svg")) {
      if (Date.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return true;
})()
"""
OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"

STOPS = """[...document.querySelectorAll("a[href], button, summary, input, select, [tabindex]")]
  .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ checkVisibilityCSS: true }))"""
UNMARKED_FOCUS = """
(() => {
  const at = document.activeElement;
  if (at === document.body) return [];
  window.stops.add(at);
  const style = getComputedStyle(at);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 ? [] : [at.outerHTML.slice(0, 80)];
})()
"""

# Of every piece of text that is seen: its contrast with what lies behind it. Colours that are let through are laid over
# what is below them; text in a picture lies on the page.
FAINT_TEXT = """
(() => {
  const parts = (colour) => {
    const canvas = parts.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((each) => each / 255);
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);
  const light = (colour) => colour.slice(0, 3)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, k) => sum + each * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (place) => {
    const grounds = [];
    for (let at = place; at; at = at.parentElement) grounds.unshift(parts(getComputedStyle(at).backgroundColor));
    return grounds.reduce((below, top) => over(top, below), [1, 1, 1, 1]);
  };
  const seen = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest("script, style, title, desc, .watermark, [hidden]")) continue;
    if (!holder.checkVisibility({ checkVisibilityCSS: true })) continue;
    const style = getComputedStyle(holder);
    const isDrawn = holder.closest("svg") !== null;
    const below = ground(holder);
    const colour = over(parts(isDrawn ? style.fill : style.color), below);
    const [a, b] = [light(colour), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const what = `${holder.tagName} ${holder.className.baseVal ?? holder.className}: ${node.data.trim().slice(0, 40)}`;
    seen.push([ratio, isLarge ? 3 : LEAST, what]);
  }
  const faint = seen.filter(([ratio, least]) => ratio < least);
  return { count: seen.length, faint: faint.map(([ratio, , what]) => `${ratio.toFixed(2)} ${what}`) };
})()
""".replace("LEAST", str(LEAST_CONTRAST))

SMALL_TEXT = """
(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const holder = node.parentElement;
    if (!node.data.trim() || holder.closest("script, style, title, desc")) continue;
    if (!holder.checkVisibility({ checkVisibilityCSS: true })) continue;
    const size = parseFloat(getComputedStyle(holder).fontSize);
    if (size < LEAST) found.push(`${size.toFixed(1)} ${node.data.trim().slice(0, 40)}`);
  }
  return found;
})()
""".replace("LEAST", str(LEAST_LETTER_PX))
# Links within a text may be as high as its line (WCAG 2.2, 2.5.8); all else has its own room.
SMALL_TARGETS = """
[...document.querySelectorAll("button, summary, .checkline a")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < LEAST)
  .map((one) => `${one.getBoundingClientRect().height} ${one.textContent.trim()}`)
""".replace("LEAST", str(LEAST_TARGET_PX))
CUT_TEXT = """
[...document.querySelectorAll(".chart .annotation-text")]
  .filter((one) => one.getBoundingClientRect().right > one.closest(".chart").getBoundingClientRect().right)
  .map((one) => one.textContent)
"""


@cache
def page_of(kind: str) -> str:
    return render(KINDS[kind]())


def written(kind: str, folder: Path) -> Path:
    return write_page(page_of(kind), folder / "report.html")


@ALL
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_charts_fill_the_page_nothing_is_cut_and_every_text_can_be_read(
    page: Page, tmp_path: Path, kind: str, width: int, scheme: str
) -> None:
    page.open(written(kind, tmp_path), width=width, scheme=scheme)
    assert width > 360 or page.evaluate(SMALL_TARGETS) == [], "a finger meets something else"
    page.evaluate(OPEN)
    assert page.evaluate(SMALL_TEXT) == []
    assert page.evaluate(DRAW_ALL)
    widths = page.evaluate(
        "[...document.querySelectorAll('.chart .main-svg')].filter((one) => one.checkVisibility())"
        ".map((one) => one.getBoundingClientRect().width)"
    )
    assert widths
    assert min(widths) > 300
    assert max(widths) <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert width < 1280 or page.evaluate(CUT_TEXT) == []
    found = page.evaluate(FAINT_TEXT)
    assert found["count"] > 100
    assert found["faint"] == []


@ALL
def test_nothing_moves_when_charts_are_drawn(page: Page, tmp_path: Path, kind: str) -> None:
    """The room of a chart is that of the drawn one from the beginning."""
    heights = "[...document.querySelectorAll('.chart')].map((one) => Math.round(one.getBoundingClientRect().height))"
    page.open(written(kind, tmp_path), before="window.IntersectionObserver = class { observe() {} };")
    empty = page.evaluate(heights)
    page.open(written(kind, tmp_path))
    assert page.evaluate(DRAW_ALL)
    assert page.evaluate(heights) == empty


@ALL
def test_the_keyboard_reaches_everything_and_shows_where_it_is(page: Page, tmp_path: Path, kind: str) -> None:
    page.open(written(kind, tmp_path), height=2000)
    wanted = page.evaluate(f"{STOPS}.length")
    assert wanted <= MOST_STOPS
    first = page.evaluate(f"{STOPS}.filter((one) => !one.closest('.details')).length")
    assert 5 <= first <= MOST_STOPS_OF_THE_FIRST_PART + page.count("#main-picture .save, #figures .data th button")
    page.evaluate("window.stops = new Set()")
    unmarked = []
    for _ in range(wanted + 3):
        page.press("Tab")
        unmarked += page.evaluate(UNMARKED_FOCUS)
    assert unmarked == []
    assert (
        page.evaluate(f"{STOPS}.filter((one) => !window.stops.has(one)).map((one) => one.outerHTML.slice(0, 80))") == []
    )


@ALL
def test_without_javascript_no_box_is_empty(page: Page, tmp_path: Path, kind: str) -> None:
    page.open(written(kind, tmp_path), script=False)
    assert page.count("figure:not(:has(svg)), #theme") == 0
    assert page.count("#figures table") >= 1


@pytest.mark.parametrize(
    ("kind", "script"),
    [*((kind, True) for kind in KINDS), *((kind, False) for kind in ("calls", "curves", "settings"))],
)
def test_the_first_part_is_two_pages_of_a4_at_most(page: Page, tmp_path: Path, kind: str, script: bool) -> None:
    alone = page_of(kind).replace("</style>", "@media print{.details{display:none!important}}</style>")
    page.open(write_page(alone, tmp_path / "report.html"), script=script)
    assert 1 <= page.pages_on_paper() <= 2
