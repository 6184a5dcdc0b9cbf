"""The pictures of a run as files of their own, SVG and PNG, which a browser draws.

Pictures travel alone, so what no reader may miss, an emulated distance say, is in each.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from orchestrator.disk import output
from orchestrator.errors import InvalidMeasurement
from orchestrator.findings.summary import RunSummary
from orchestrator.report.charts import Charts, Pictured
from orchestrator.report.check_groups import marks
from orchestrator.report.page import render_page

Browse = Callable[[str], str]
"""Opens an address without a window, and returns the document as the page's script left it."""
_AT_ONCE = 8  # pictures of one page
_LINK = re.compile(r'<a class="picture" download="([a-z0-9-]+)\.(svg|png)" href="data:image/[^,"]*?(;base64)?,([^"]*)"')


def write_pictures(
    summary: RunSummary,
    folder: Path,
    browse: Browse,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write every picture into `folder`, which is made.

    Errors as `disk.output`; InvalidMeasurement when the browser drew less than it was given. Files of the same
    names are replaced, others left alone.
    """
    drawn = Charts(summary).for_files()
    files: list[Path] = []
    for start in range(0, len(drawn), _AT_ONCE):
        progress(f"picture {start + 1} of {len(drawn)}")
        for name, content in _draw(drawn[start : start + _AT_ONCE], marks(summary), browse):
            with output(folder / name, "draw them again") as partial:
                partial.write_bytes(content)
            files.append(folder / name)
    return tuple(files)


def _draw(drawn: Sequence[Pictured], every_page: Sequence[str], browse: Browse) -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory(prefix="orch-pictures-") as place:
        page = Path(place) / "pictures.html"
        text = render_page("pictures.html", title="Pictures", charts=True, every_page=every_page, pictures=drawn)
        page.write_text(text, encoding="utf-8")
        document = browse(f"{page.as_uri()}?theme=light")
    links = _LINK.findall(document)
    if len(links) != 2 * len(drawn):
        raise InvalidMeasurement(
            f"the browser drew {len(links)} of {2 * len(drawn)} pictures", hint="try again, or save them from the page"
        )
    for name, ending, is_base64, content in links:
        data = base64.b64decode(content) if is_base64 else unquote_to_bytes(content)
        yield f"{name}.{ending}", data
