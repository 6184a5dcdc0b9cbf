"""A report in a reader's hands, in a real browser: few stops of the Tab key, pictures as files, a phone, sheets of paper."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.report import palette
from tests.orchestrator.report.test_kinds_in_browser import ALL, DRAW_ALL, OPEN, STOPS, written
from tests.support.browser import NEEDS_BROWSER, Page

pytestmark = NEEDS_BROWSER

MOST_STOPS_OF_THE_FIRST_PART = 15
LEAST_LETTER_PX = 10.9
LEAST_TARGET_PX = 24

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
# How many dots of a picture have a colour, and the colour of its first dot.
COLOURS = """
(async ([file, wanted]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${file}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const drawing = canvas.getContext("2d");
  drawing.drawImage(image, 0, 0);
  const { data } = drawing.getImageData(0, 0, canvas.width, canvas.height);
  const hex = (at) => "#" + [...data.slice(at, at + 3)].map((one) => one.toString(16).padStart(2, "0")).join("");
  let count = 0;
  for (let at = 0; at < data.length; at += 4) count += hex(at) === wanted;
  return [hex(0), count, canvas.width];
})
"""


@ALL
def test_the_first_part_has_few_stops_of_the_tab_key(page: Page, tmp_path: Path, kind: str) -> None:
    page.open(written(kind, tmp_path))
    first = page.evaluate(f"{STOPS}.filter((one) => !one.closest('.details')).length")
    assert 5 <= first <= MOST_STOPS_OF_THE_FIRST_PART + page.count("#main-picture .save, #figures .data th button")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["calls", "failed"])
def test_a_saved_picture_has_the_colours_that_are_shown_and_what_no_reader_may_miss(
    page: Page, tmp_path: Path, kind: str, scheme: str
) -> None:
    page.open(written(kind, tmp_path), scheme=scheme)
    colours = palette.DARK if scheme == "dark" else palette.LIGHT
    name, file = page.download("#main-picture .save")
    assert re.fullmatch(r"chart-[\w-]+\.png", name)
    first, warned, width = page.evaluate(f"{COLOURS}(['{base64.b64encode(file).decode()}', '{colours['fail']}'])")
    assert first == colours["paper"]
    assert width == 1280
    assert (warned > 100) == (kind == "failed")


@ALL
def test_no_text_beside_a_row_of_a_chart_is_cut(page: Page, tmp_path: Path, kind: str) -> None:
    page.open(written(kind, tmp_path))
    page.evaluate(OPEN)
    assert page.evaluate(DRAW_ALL)
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.chart .annotation-text')].filter((one) => one.getBoundingClientRect().right"
            " > one.closest('.chart').getBoundingClientRect().right).map((one) => one.textContent)"
        )
        == []
    )


@ALL
@pytest.mark.parametrize("width", [360, 1280])
def test_no_text_is_too_small_to_read(page: Page, tmp_path: Path, kind: str, width: int) -> None:
    page.open(written(kind, tmp_path), width=width)
    page.evaluate(OPEN)
    assert page.evaluate(SMALL_TEXT) == []


@ALL
def test_a_finger_meets_what_it_aims_at(page: Page, tmp_path: Path, kind: str) -> None:
    """Links within a text may be as high as its line (WCAG 2.2, 2.5.8); all else has its own room."""
    page.open(written(kind, tmp_path), width=360)
    small = page.evaluate(
        "[...document.querySelectorAll('button, summary, .checkline a')]"
        ".filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < LEAST)"
        ".map((one) => `${one.getBoundingClientRect().height} ${one.textContent.trim()}`)".replace(
            "LEAST", str(LEAST_TARGET_PX)
        )
    )
    assert small == []


@ALL
def test_each_sheet_of_paper_says_of_which_run_it_is_and_its_number(page: Page, tmp_path: Path, kind: str) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext on PATH")
    page.open(written(kind, tmp_path))
    title = page.evaluate("document.title")
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(page.paper())
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True).stdout.decode()
    sheets = text.split("\f")[:-1]
    assert sheets
    for number, sheet in enumerate(sheets, start=1):
        assert re.search(rf"{re.escape(title)} +page {number} of {len(sheets)}\s*\Z", sheet), sheet[-200:]
