"""The pages in a real browser: nothing comes from elsewhere, phones, darkness, keyboard, downloads, a run in progress."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from orchestrator.report.palette import DARK, LIGHT
from orchestrator.results.folder import runs
from orchestrator.workspace import Workspace
from tests.orchestrator.report.test_kinds_in_browser import FAINT_TEXT
from tests.support.browser import FLAGS, NEEDS_BROWSER, PROGRAM
from tests.support.growing import until
from tests.support.web import OLDER, RUNS, WITH_SAMPLES, made_up, served

pytestmark = NEEDS_BROWSER
PAGES = (
    "/",
    "/live",
    f"/live/{WITH_SAMPLES}",
    f"/runs/{WITH_SAMPLES}",
    f"/runs/{RUNS[1]}",
    f"/compare?run={WITH_SAMPLES}&run={OLDER}",
    "/trends",
    "/trends?cell=grpc-thin",
)
EXPERIMENT = """\
name: tiny
question: Does the page follow it?
provider: local
stacks: [tcp]
operations: [{echo: {bytes: 64 B}}]
load: {concurrency: 1, duration: 1s}
warmup: {requests: 5, at_least: 0s}
repeats: 4
seed: 1
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(made_up(tmp_path_factory.mktemp("served"))) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    assert PROGRAM
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Opens a tab of that width and colour scheme; at the end no console has a line, and no request went elsewhere."""
    contexts, lines, requests = [], [], []

    def open_(address: str, width: int = 1280, scheme: str = "light", *, script: bool = True) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            is_mobile=width < 600,
            java_script_enabled=script,
            base_url=address,
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: lines.append((tab.url, message.type, message.text)))
        tab.on("pageerror", lambda error: lines.append((tab.url, "error", str(error))))
        tab.on("dialog", lambda dialog: lines.append((tab.url, "dialog", dialog.message)))
        tab.on("request", lambda request: requests.append((address, request.url)))
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert lines == []
    assert [url for own, url in requests if not url.startswith((own, "data:", "blob:"))] == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_fit_the_screen_every_text_is_legible_and_paper_has_no_controls(opened, address, width, scheme):
    tab = opened(address, width, scheme)
    for path in PAGES:
        tab.emulate_media(media="screen")
        tab.goto(path)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, path
        assert tab.evaluate(FAINT_TEXT)["faint"] == [], path
        tab.emulate_media(media="print")
        assert tab.locator("h1").is_visible(), path
        controls = tab.locator("nav, button, input:not([type=hidden]), select").all()
        shown = [control.evaluate("element => element.outerHTML") for control in controls if control.is_visible()]
        assert shown == [], path


def test_on_a_phone_the_answer_of_a_run_comes_before_its_details(opened, address):
    tab = opened(address, 360)
    tab.goto("/")
    tops = tab.evaluate(
        "['th', 'td.answered', 'td[data-label=Begun]'].map((one) =>"
        " [...document.querySelectorAll('.runs tbody tr')].find((row) => row.querySelector('.answered').textContent)"
        ".querySelector(one).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    assert tops[1] < tops[2]


def test_pages_work_without_their_script(opened, address):
    tab = opened(address, script=False)
    tab.goto("/")
    tab.get_by_label("Search").fill("samples")
    tab.get_by_role("button", name="Show").click()
    assert tab.locator("tbody tr").count() == 2
    for number in range(2):
        tab.locator("tbody input[type=checkbox]").nth(number).check()
    tab.get_by_role("button", name="Compare").click()
    assert tab.locator("tbody tr").count() > 0


def test_the_keyboard_reaches_everything(opened, address):
    tab = opened(address)
    for path in PAGES:
        tab.goto(path)
        wanted = tab.evaluate(
            "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')]"
            ".filter((one) => one.checkVisibility() && one.tabIndex >= 0).length"
        )
        reached = set()
        for _ in range(wanted + 10):
            tab.keyboard.press("Tab")
            at = tab.evaluate(
                "(() => { const at = document.activeElement; if (at === document.body) return null;"
                " const all = [...document.querySelectorAll('*')]; const style = getComputedStyle(at);"
                " return [all.indexOf(at), style.outlineStyle !== 'none' && style.outlineWidth !== '0px']; })()"
            )
            if at is not None:
                assert at[1], f"{path}: focus is not visible"
                reached.add(at[0])
        assert len(reached) >= wanted, path


def test_a_slash_goes_to_the_search_and_the_first_stop_skips_to_the_content(opened, address):
    tab = opened(address)
    tab.goto("/")
    tab.keyboard.press("/")
    tab.keyboard.type("script/")
    assert tab.get_by_label("Search").input_value() == "script/"
    tab.goto(f"/runs/{RUNS[0]}")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**#main")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_trend_is_drawn_in_the_colours_of_the_page(opened, address, scheme):
    tab = opened(address, scheme=scheme)
    tab.goto("/trends?cell=grpc-thin")
    assert tab.locator("figure .scatterlayer .point").count() == len(RUNS)
    muted = (LIGHT if scheme == "light" else DARK)["muted"]
    channels = ", ".join(str(int(muted[place : place + 2], 16)) for place in (1, 3, 5))
    text = tab.locator("figure .main-svg text").first
    assert text.evaluate("element => getComputedStyle(element).fill") == f"rgb({channels})"


def test_a_report_shows_its_charts(opened, address):
    tab = opened(address)
    tab.goto(f"/runs/{WITH_SAMPLES}/report")
    tab.wait_for_selector("svg.main-svg", state="attached")


@pytest.mark.alone
def test_the_page_follows_a_real_run_to_its_end(opened, tmp_path):
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    orch = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
    root = str(Path(__file__).parents[3])
    process = subprocess.Popen(
        [*orch, "run", "tiny.yaml", "--share-machine"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}
    )
    try:
        until(lambda: process.poll() is not None or runs(tmp_path / "results"), "the run begins")
        with served(Workspace(tmp_path)) as address:
            tab = opened(address)
            tab.goto(f"/live/{runs(tmp_path / 'results')[0].id}")
            until(lambda: "0 of 4" not in tab.locator("tbody").inner_text(), "a trial is shown")
            assert process.poll() is None
            tab.reload()
            until(lambda: "4 of 4 trials are done" in tab.locator("#sentence").inner_text(), "the run ends")
            assert "4 of 4" in tab.locator("tbody").inner_text()
            tab.locator("#now").get_by_role("link").click()
            assert tab.get_by_role("link", name="Report", exact=True).is_visible()
    finally:
        process.kill()
        process.wait()
