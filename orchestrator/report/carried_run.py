"""A report can carry its run: manifest, samples and summary, as a zip file in a block at the end of the page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.files import UnreadableFile, read_file
from orchestrator.findings.summary import RunSummary
from orchestrator.report.render import render
from orchestrator.results.columns import declared_rows
from orchestrator.results.documents import Damaged, inside
from orchestrator.results.folder import RunFolder, stored_manifest
from orchestrator.results.manifest import Manifest
from orchestrator.results.names import MANIFEST

KIND = "application/vnd.orch.run+zip"
SUMMARY = "summary.json"
MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30  # of an HTML file, and of what one carries
_END = "</body>"
_BLOCK = re.compile(rf'<script type="{re.escape(KIND)}" data-page="(?P<page>[0-9a-f]{{64}})">(?P<run>[^<]*)</script>\n')


class CarriedRun(RunFolder):
    """A run out of a report, unpacked: it has a manifest and samples, and no journal.

    `is_page_as_written`: whether no letter of the page has changed; a browser that saves a page changes it.
    """

    def __init__(self, path: Path, *, is_page_as_written: bool) -> None:
        super().__init__(path)
        self.is_page_as_written = is_page_as_written

    @cached_property
    def _carried(self) -> tuple[Manifest, bytes]:
        if (stored := stored_manifest(self.path)) is None:
            raise Damaged(self.path / MANIFEST, "the file is missing")
        return stored

    def manifest(self) -> Manifest:
        """Return the run in one document."""
        return self._carried[0]

    def manifest_bytes(self) -> bytes:
        """Return manifest.json as it is stored."""
        return self._carried[1]


def page_with_run(run: RunFolder, summary: RunSummary) -> str:
    """Return the report with its run inside; the same run gives the same text, but for what zlib does.

    UsageError for a run with more than `MOST_ROWS` samples; InvalidMeasurement when a file of the run is damaged.
    """
    files = run.manifest().files
    if (rows := sum(declared_rows(inside(run.path, path)) for path in files)) > MOST_ROWS:
        raise UsageError(
            f"{summary.run.id} has {rows:,} samples; a report carries at most {MOST_ROWS:,}",
            hint="leave --samples out, and send the run folder",
        )
    contents = {MANIFEST: run.manifest_bytes(), SUMMARY: summary.to_json().encode()}
    contents |= {path: inside(run.path, path).read_bytes() for path in files}
    before, end, after = render(summary, rows).rpartition(_END)
    digest = hashlib.sha256(f"{before}{end}{after}".encode()).hexdigest()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in contents.items():
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    text = base64.b64encode(archive.getvalue()).decode()
    return f'{before}<script type="{KIND}" data-page="{digest}">{text}</script>\n{end}{after}'


@contextmanager
def carried(page: Path) -> Iterator[CarriedRun]:
    """Unpack the run that a report carries into a temporary folder.

    UsageError when the file is no report with samples; InvalidMeasurement when what it carries is damaged.
    """
    try:
        text = read_file(page, _MOST_BYTES).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {page}", hint="name a report, a run folder or a run") from error
    except (UnreadableFile, UnicodeDecodeError) as error:
        raise UsageError(f"{page} is no report of orch: {error}", hint="name an HTML file of `orch report`") from error
    if KIND not in text:
        raise UsageError(f"{page} carries no samples", hint="`orch report RUN --samples` writes a report that does")
    with tempfile.TemporaryDirectory(prefix="orch-report-") as folder:
        try:
            if (block := _BLOCK.search(text)) is None:
                raise ValueError("the block is cut off")
            with zipfile.ZipFile(io.BytesIO(base64.b64decode(block["run"], validate=True))) as archive:
                if sum(info.file_size for info in archive.infolist()) > _MOST_BYTES:
                    raise ValueError(f"it is larger than {_MOST_BYTES:,} bytes")
                archive.extractall(folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise InvalidMeasurement(
                f"{page}: its samples are truncated or altered: {error}", hint="copy the whole file again"
            ) from error
        without = text[: block.start()] + text[block.end() :]
        digest = hashlib.sha256(without.encode()).hexdigest()
        yield CarriedRun(Path(folder), is_page_as_written=digest == block["page"])


def is_page(name: str) -> bool:
    """Return whether a word of the command line names a report's file, not a run."""
    return name.lower().endswith((".html", ".htm"))
