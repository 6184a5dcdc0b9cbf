"""A report in a reader's hands, in a real browser: arrow keys, pictures as files, sheets of paper."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.report import palette
from tests.orchestrator.report.test_kinds_in_browser import written
from tests.support.browser import NEEDS_BROWSER, Page

pytestmark = NEEDS_BROWSER

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


@pytest.mark.parametrize("kind", ["calls", "failed"])
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
