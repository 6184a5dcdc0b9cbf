"""Charts as files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree as ET

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError
from orchestrator.hosts import chromium
from orchestrator.report import palette
from orchestrator.report.render import write_pictures
from tests.support.findings import labelled
from tests.support.pages import Document
from tests.support.summaries import a_run, failed_run

RUN = a_run(stacks=2)
PNG = b"\x89PNG\r\n\x1a\n"
PROGRAM = shutil.which("chromium") or ""


def drawn(address: str) -> str:
    """The links that the page's script would put there, and what no reader may miss."""
    page = Path(unquote(urlparse(address).path)).read_text(encoding="utf-8")
    assert 'id="every-page"' in page
    return "".join(
        f'<a class="picture" download="{slug}.svg" href="data:image/svg+xml,%3Csvg%2F%3E"></a>'
        f'<a class="picture" download="{slug}.png" href="data:image/png;base64,iVBORw0KGgo="></a>'
        for slug in Document(page).figures()
    )


def test_there_are_two_files_for_every_chart_of_the_report(tmp_path: Path) -> None:
    written = write_pictures(failed_run(), tmp_path / "deep" / "pictures", drawn)
    assert {path.name.partition("-")[0] for path in written} >= {"stacks", "percentiles", "strip"}
    assert {path.suffix: path.read_bytes() for path in written} == {".svg": b"<svg/>", ".png": PNG}


def test_a_browser_that_draws_less_or_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidMeasurement, match="drew 0 of"):
        write_pictures(RUN, tmp_path, lambda _: "<html></html>")
    with pytest.raises(MissingError, match="/bin/false ended with status 1"):
        write_pictures(RUN, tmp_path, partial(chromium.browse, "/bin/false"))


@pytest.mark.browser
@pytest.mark.busy
@pytest.mark.skipif(not PROGRAM, reason="no chromium on PATH")
def test_chromium_draws_both_kinds_in_light_colours(tmp_path: Path) -> None:
    run = replace(RUN, cells=tuple(labelled(cell, stack="<b>rest</b> & co") for cell in RUN.cells))
    written = write_pictures(run, tmp_path, partial(chromium.browse, PROGRAM))
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(PNG)
            assert path.stat().st_size > 5000
        else:
            text = path.read_text(encoding="utf-8")
            assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - ours
            assert "var(--" not in text
            red, green, blue = (int(palette.LIGHT["paper"][at : at + 2], 16) for at in (1, 3, 5))
            assert f"rgb({red}, {green}, {blue})" in text
