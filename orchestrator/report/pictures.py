"""The pictures of a run as files of their own, SVG and PNG, which a browser draws as it draws the report.

Pictures travel alone, so what no reader may miss, an emulated distance say, is in each.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_to_bytes

from orchestrator.disk import output
from orchestrator.errors import InvalidMeasurement
from orchestrator.findings.summary import RunSummary
from orchestrator.report.render import render

_CHART = 'class="chart"'
_LINK = re.compile(r'<a class="picture" download="([a-z0-9-]+)\.(svg|png)" href="data:image/[^,"]*?(;base64)?,([^"]*)"')


def write_pictures(summary: RunSummary, folder: Path, browse: Callable[[str], str]) -> tuple[Path, ...]:
    """Write every picture into `folder`, which is made; files of the same names are replaced.

    `browse` opens an address and returns the document as its script left it. Errors as `disk.output`;
    InvalidMeasurement when the browser drew less than it was given.
    """
    text = render(summary)
    with tempfile.TemporaryDirectory(prefix="orch-pictures-") as place:
        page = Path(place) / "report.html"
        page.write_text(text, encoding="utf-8")
        links = _LINK.findall(browse(f"{page.as_uri()}?theme=light&pictures"))
    if len(links) != 2 * text.count(_CHART):
        raise InvalidMeasurement(
            f"the browser drew {len(links)} of {2 * text.count(_CHART)} pictures",
            hint="try again, or save them from the page",
        )
    for name, ending, is_base64, content in links:
        with output(folder / f"{name}.{ending}", "draw them again") as partial:
            partial.write_bytes(base64.b64decode(content) if is_base64 else unquote_to_bytes(content))
    return tuple(folder / f"{name}.{ending}" for name, ending, *_ in links)
