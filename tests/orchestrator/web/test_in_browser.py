"""The pages in a real browser: nothing is blocked or loaded from elsewhere, phones, darkness, keyboard, downloads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, sync_playwright

from orchestrator.cli import browser, serve
from tests.support.browser import FLAGS, PROGRAM
from tests.support.web import EVIL, RUNS, TOKEN, WITH_SAMPLES, made_up, served

pytestmark = [
    pytest.mark.browser,
    pytest.mark.busy,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH"),
]
PAGES = (
    "/",
    f"/runs/{WITH_SAMPLES}",
    f"/runs/{RUNS[1]}",
    f"/compare?run={RUNS[5]}&run={RUNS[1]}&run={RUNS[0]}",
    "/trends",
    "/trends?cell=grpc-thin",
    f"/runs/{RUNS[1]}/delete",
    "/api",
)
# The contrast of every text with what lies behind it (WCAG 2.2, 1.4.3); of inputs too.
LEAST_CONTRAST = """() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let least = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(channels(ink)), luminance(behind(element))].sort((x, y) => y - x);
    const found = (a + 0.05) / (b + 0.05);
    if (found < least[0]) least = [found, element.outerHTML.slice(0, 200)];
  }
  return least;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(made_up(tmp_path_factory.mktemp("served"))) as found:
        yield found


@pytest.fixture(scope="module")
def chromium():
    assert PROGRAM
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=PROGRAM, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def opened(chromium, address):
    """Opens a tab of that width and colour scheme; at the end nothing was said on any console, nothing asked elsewhere."""
    contexts, said, asked = [], [], []

    def open_(width: int = 1280, scheme: str = "light", *, script: bool = True, session: bool = True) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            is_mobile=width < 600,
            java_script_enabled=script,
            base_url=address,
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: said.append((tab.url, message.type, message.text)))
        tab.on("pageerror", lambda error: said.append((tab.url, "error", str(error))))
        tab.on("dialog", lambda dialog: said.append((tab.url, "dialog", dialog.message)))
        tab.on("request", lambda request: asked.append(request.url))
        if session:
            tab.goto(f"/?token={TOKEN}")
            assert "token" not in tab.url
        return tab

    open_.said = said
    yield open_
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [1280, 360])
def test_no_page_is_wider_than_the_screen_or_blocked_by_its_policy(opened, path, width):
    tab = opened(width)
    tab.goto(path)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator("h1").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_legible(opened, scheme):
    tab = opened(scheme=scheme)
    for path in PAGES:
        tab.goto(path)
        contrast, where = tab.evaluate(LEAST_CONTRAST)
        assert contrast >= 4.5, (path, where)


@pytest.mark.parametrize("path", PAGES)
def test_paper_has_nothing_to_press(opened, path):
    tab = opened()
    tab.goto(path)
    tab.emulate_media(media="print")
    assert tab.locator("h1").is_visible()
    pressed = tab.locator("nav, button, input:not([type=hidden]), select, textarea").all()
    assert [one.evaluate("one => one.outerHTML.slice(0, 80)") for one in pressed if one.is_visible()] == []


def test_on_a_phone_the_answer_of_a_run_stands_before_what_it_rests_on(opened):
    tab = opened(360)
    tab.goto("/")
    tops = tab.evaluate(
        "['th', 'td.answered', 'td[data-label=Begun]'].map((one) =>"
        " [...document.querySelectorAll('.runs tbody tr')].find((row) => row.querySelector('.answered').textContent)"
        ".querySelector(one).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    assert tops[1] < tops[2]


def test_pages_work_without_their_script(opened):
    tab = opened(script=False)
    tab.get_by_label("Search").fill("script")
    tab.get_by_role("button", name="Show").click()
    assert tab.locator("tbody tr").count() == 3
    tab.locator("tbody input[type=checkbox]").nth(0).check()
    tab.locator("tbody input[type=checkbox]").nth(1).check()
    tab.get_by_role("button", name="Compare").click()
    assert tab.get_by_role("heading", name="Run 1 against run 2").is_visible()


def test_the_keyboard_reaches_everything(opened):
    tab = opened()
    for path in PAGES:
        tab.goto(path)
        wanted = tab.evaluate(
            "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]"
            ".filter((one) => one.checkVisibility() && one.tabIndex >= 0).length"
        )
        reached = set()
        for _ in range(wanted + 5):
            tab.keyboard.press("Tab")
            at = tab.evaluate(
                "(() => { const at = document.activeElement; if (at === document.body) return null;"
                " const all = [...document.querySelectorAll('*')]; const style = getComputedStyle(at);"
                " return [all.indexOf(at), style.outlineStyle !== 'none' && style.outlineWidth !== '0px']; })()"
            )
            if at is not None:
                assert at[1], f"{path}: focus is not seen"
                reached.add(at[0])
        assert len(reached) >= wanted, path


def test_a_slash_goes_to_the_search_and_the_first_stop_skips_to_the_content(opened):
    tab = opened()
    tab.keyboard.press("/")
    tab.keyboard.type("script/")
    assert tab.get_by_label("Search").input_value() == "script/"
    tab.goto(f"/runs/{RUNS[0]}")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.url.endswith("#main")


def test_a_hostile_name_is_text_in_notes_titles_and_lists(opened):
    tab = opened()
    tab.goto(f"/runs/{RUNS[1]}")
    assert tab.title() == f"{EVIL} · orch"
    tab.get_by_label("Note").fill("<img src=x onerror=alert(2)>")
    tab.get_by_role("button", name="Add the note").click()
    assert tab.get_by_text("<img src=x onerror=alert(2)>").is_visible()
    assert tab.locator("main img").count() == 0


def test_a_report_runs_in_an_origin_of_its_own_and_cannot_reach_the_page(opened, address):
    tab = opened()
    tab.goto(f"/runs/{WITH_SAMPLES}/report")
    tab.wait_for_selector("svg.main-svg", state="attached")
    assert tab.evaluate("self.origin") == "null"
    refused = tab.evaluate("fetch('/api/runs').then(() => 'reached', () => 'refused')")
    assert refused == "refused"
    assert all("Content Security Policy" in text for _, _, text in opened.said)
    opened.said.clear()


def test_downloads_are_files(opened):
    tab = opened()
    tab.goto(f"/runs/{WITH_SAMPLES}")
    for name, suffix in (
        ("csv", ".csv"),
        ("excel", ".xlsx"),
        ("csv, every sample", "-raw.csv"),
        ("Download the report", ".html"),
    ):
        with tab.expect_download() as coming:
            tab.get_by_role("link", name=name, exact=True).click()
        assert re.search(rf"{re.escape(suffix)}$", coming.value.suggested_filename)
        assert coming.value.path().stat().st_size > 100


def test_without_the_token_pages_offer_no_change(opened):
    tab = opened(session=False)
    tab.goto(f"/runs/{RUNS[0]}")
    assert tab.locator("form[method=post]").count() == 0
    assert tab.get_by_text("open this page with the address").is_visible()


def test_the_page_is_opened_by_a_file_and_may_change_something_at_once(address, chromium, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    monkeypatch.setattr(browser, "show_address", lambda shown, where: told.append(shown))
    serve._open(f"{address}/runs/{RUNS[0]}?token={TOKEN}")
    assert TOKEN not in told[0]
    assert (tmp_path / ".orch" / serve.OPENING).stat().st_mode & 0o077 == 0
    context = chromium.new_context()
    try:
        tab = context.new_page()
        tab.goto(told[0])
        tab.wait_for_url(f"{address}/runs/{RUNS[0]}")
        assert tab.locator("input[name=form_token]").count()
        assert TOKEN not in tab.content()
    finally:
        context.close()
