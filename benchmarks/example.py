"""The example that the README shows, made anew from a run: `make example RUN=results/<run-id>`, from the project's root.

It writes `reports/example.html`, the picture of its first part (`docs/report.png`), and into the README what `orch run`
printed at the end. A run that cannot answer, because the machine was busy, say, is refused.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from playwright.sync_api import sync_playwright

from orchestrator.cli.answer import short_lines
from orchestrator.disk import whole_file
from orchestrator.hosts import chromium
from orchestrator.report import write_report
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer

WIDTH_PX = 1280
_COLUMNS = 120
_BLOCK = re.compile(r"(For the run of `reports/example\.html` that is\n```\n).*?(\n```)", re.DOTALL)
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


def main() -> None:
    """Make all three from the run that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="a run's folder, its id, or `latest`")
    for path in example(parser.parse_args().run, Path.cwd()):
        print(path)


def example(run: str, root: Path) -> tuple[Path, ...]:
    """Write page, picture and the README's block below `root`; SystemExit where a run cannot be an example of an answer."""
    folder = RunFolder.open(run, root=root / "results")
    summary = summarise(folder)
    found = answer(summary)
    if found.invalid_because:
        raise SystemExit(f"{summary.run.id} is no example: {found.sentence}")
    page, picture, readme = root / "reports" / "example.html", root / "docs" / "report.png", root / "README.md"
    text = readme.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise SystemExit(f"{readme} has no block of what `orch run` prints")
    write_report(summary, page)
    draw(page, picture)
    lines = list(short_lines(summary, width=_COLUMNS, has_table=False))  # the picture has the table
    with whole_file(readme) as partial:
        partial.write_text(_BLOCK.sub(lambda of: of[1] + "\n".join(lines) + of[2], text), encoding="utf-8")
    return page, picture, readme


def draw(page: Path, picture: Path) -> None:
    """The first part of a report as a PNG, as a wide screen shows it, in light colours."""
    program = chromium.find()
    if program is None:
        raise SystemExit(f"there is no chromium on the PATH: {chromium.INSTALL}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=list(_FLAGS))
        tab = browser.new_page(viewport={"width": WIDTH_PX, "height": 2000}, color_scheme="light")
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("#main-picture .chart[data-live] svg.main-svg")
        high = tab.evaluate("Math.ceil(document.querySelector('.first-part').getBoundingClientRect().bottom)")
        shot = tab.screenshot(clip={"x": 0, "y": 0, "width": WIDTH_PX, "height": high}, full_page=True)
        browser.close()
    with whole_file(picture) as partial:
        partial.write_bytes(shot)


if __name__ == "__main__":
    main()
