"""The live page in a real browser: beside a run that this machine measures, from its first trial to its end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from orchestrator.results.folder import RunFolder, runs
from orchestrator.web import live, progress
from orchestrator.workspace import Workspace
from tests.support.browser import PROGRAM, Page, browser
from tests.support.growing import TOKEN, Growing, served, until
from tests.support.plans import plan

pytestmark = [
    pytest.mark.browser,
    pytest.mark.busy,
    pytest.mark.skipif(PROGRAM is None, reason="no chromium"),
]

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
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
STATE = "document.getElementById('live').dataset.state"
DOTS = "document.querySelectorAll('#plot circle').length"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as found:
        yield found


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with served(Workspace(tmp_path)) as found:
        yield found


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run of four trials of a second each, which has begun to measure."""
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    words = [*ORCH, "run", "tiny.yaml", "--share-machine"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: process.poll() is None and runs(tmp_path / "results"), "the run begins")
    yield process
    process.kill()
    process.wait()


def only(tmp_path: Path) -> RunFolder:
    return runs(tmp_path / "results")[0]


def problems(page: Page) -> list[str]:
    """What went wrong on the page, but for the favicon that no page of these tests has."""
    return [text for text in page.problems if "favicon" not in text and "404" not in text]


@pytest.mark.alone
def test_the_page_follows_a_run_to_its_end_and_survives_a_reload(page, address, measured, tmp_path):
    run = only(tmp_path).id
    page.requests.clear()  # of tests before it, whose addresses are others
    page.problems.clear()
    page.open(f"{address}/live/{run}")
    page.wait_for(f"{DOTS} >= 1")
    assert page.evaluate(STATE) == "running"
    page.reload()
    page.wait_for(f"{DOTS} >= 2")
    measured.wait()
    page.wait_for(f"{STATE} === 'complete'")
    assert page.evaluate(DOTS) == 4
    text = page.text()
    assert "The run is complete. 4 of 4 trials are done." in text
    assert page.evaluate("document.getElementById('done').value") == 4
    assert page.count("#ended a") == 1
    assert page.count("#stop") == 0
    shown = page.evaluate("document.querySelector('#cells td[data-label=Median]').textContent")
    assert shown.endswith(("µs", "ms"))
    assert problems(page) == []
    assert [request for request in page.requests if not request.startswith((address, "data:", "blob:"))] == []


@pytest.mark.alone
def test_a_run_that_was_killed_is_told_as_killed(page, address, measured, tmp_path):
    folder = only(tmp_path)
    page.open(f"{address}/live/{folder.id}")
    page.wait_for(f"{DOTS} >= 1")
    measured.send_signal(signal.SIGKILL)
    page.wait_for(f"{STATE} === 'killed'")
    assert "The run was killed: its process is gone" in page.text()
    page.reload()
    page.wait_for(f"{STATE} === 'killed'")
    assert page.count("#ended a") == 1


@pytest.mark.alone
def test_a_run_is_stopped_from_its_page_and_followed_through_its_clean_up(page, address, measured, tmp_path):
    folder = only(tmp_path)
    page.open(f"{address}/live/{folder.id}?{urlencode({'token': TOKEN})}")
    page.wait_for(f"{DOTS} >= 1")
    page.evaluate("document.getElementById('stop').open = true")
    page.submit("#stop button")
    page.wait_for(f"{STATE} === 'interrupted'")
    assert measured.wait() == 130
    assert "The run was interrupted" in page.text()
    assert folder.manifest().state == "interrupted"


@pytest.mark.alone
def test_what_the_page_showed_is_started_and_followed_to_its_end(page, address, tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "tiny.yaml").write_text(EXPERIMENT)
    page.open(f"{address}/start?{urlencode({'experiment': 'tiny.yaml', 'token': TOKEN})}")
    assert "4 trials of 1 cell" in page.text()
    page.submit("form[action='/start'] button")
    page.wait_for_text("trials are done.")  # its own page has opened, and tells the end
    assert "The run is complete. 4 of 4 trials are done." in page.text()
    assert only(tmp_path).manifest().state == "complete"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 0.05)
    monkeypatch.setattr(live, "LEAST_BETWEEN_LOOKS_S", 0.05)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_is_legible_on_a_telephone_and_in_the_dark(page, address, tmp_path, width, scheme):
    run = Growing(tmp_path, plan("tcp", "rest", repeats=6)).measuring()
    page.open(f"{address}/live/{run.id}", width=width, scheme=scheme)
    for index in range(4):
        run.block(index // 2)
        run.trial(index, 0.3 * (index + 1) ** 4)
    page.wait_for(f"{DOTS} === 4")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelector('#plot svg').getBoundingClientRect().width") > 300
    assert "logarithmic axis" in page.evaluate("document.querySelector('#plot svg').getAttribute('aria-label')")
    assert page.evaluate("document.querySelectorAll('[style]').length") == 0
    assert page.evaluate("document.getElementById('sentence').getAttribute('aria-live')") == "polite"
    run.end()
    run.let_go()
    page.wait_for(f"{STATE} === 'complete'")
    assert problems(page) == []


@pytest.mark.usefixtures("quick")
def test_labels_of_a_run_stay_text(page, address, tmp_path):
    evil = "<img src=x onerror=\"document.title='hacked'\">"
    planned = plan("tcp", name=evil, question=evil)
    planned = replace(planned, stacks=tuple(replace(stack, label=evil) for stack in planned.stacks))
    run = Growing(tmp_path, planned).measuring()
    run.folder.append({"event": "warning", "text": evil})
    page.open(f"{address}/live/{run.id}")
    run.trial(0)
    page.wait_for(f"{DOTS} === 1")
    assert page.evaluate("document.images.length") == 0
    assert "hacked" not in page.evaluate("document.title").replace(evil, "")
    assert evil in page.text()


@pytest.mark.usefixtures("quick")
def test_medians_that_differ_by_less_than_numbers_can_say_do_not_hold_up_the_page(page, address, tmp_path):
    """A journal from elsewhere may hold any: between these two, a step of the axis is lost in rounding."""
    run = Growing(tmp_path).measuring()
    for index, median_ms in enumerate((1e15, 1e15 + 0.125)):
        run.trial(index, median_ms)
    page.open(f"{address}/live/{run.id}")
    page.wait_for(f"{DOTS} === 2")
    assert problems(page) == []


@pytest.mark.usefixtures("quick")
def test_without_a_script_the_page_shows_how_it_stands_and_loads_itself_again(page, address, tmp_path):
    run = Growing(tmp_path).measuring()
    run.trial(0, 0.3)
    page.open(f"{address}/live/{run.id}", script=False)
    assert "Trial 2 of 4" in page.text()
    assert "300 µs" in page.text()
    assert page.count("#plot") == 0
    run.trial(1, 0.6)
    page.wait_for_text("600 µs")
