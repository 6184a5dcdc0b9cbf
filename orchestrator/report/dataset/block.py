"""The blocks at the end of a report, its figures as data and its samples: put there, and read again."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.files import UnreadableFile, read_file
from orchestrator.report.dataset.carried_run import Dataset, opened

KIND = "application/vnd.orch.run+zip"
_END = "</body>"
_MOST_BYTES = 1 << 28  # of an HTML file
_BLOCK = re.compile(
    rf'<script type="{re.escape(KIND)}" id="dataset" data-page="(?P<page>[0-9a-f]{{64}})" '
    rf'data-samples="(?P<samples>[0-9a-f]{{64}})">(?P<text>[^<]*)</script>\n?'
)


@dataclass(frozen=True)
class Page:
    """A report: the page without its samples, the SHA-256 that it was written with, and what the samples' block holds."""

    path: Path
    text: str
    sha256: str
    dataset: Dataset

    @property
    def is_as_written(self) -> bool:
        """Whether no letter of the page has changed; a browser that saves a page changes it."""
        return _sha256(self.text.encode()) == self.sha256


def with_blocks(page: str, figures: str, content: bytes) -> str:
    """The page with both blocks before the end of its body; nothing runs them, and nothing is drawn after them."""
    before, end, after = page.rpartition(_END)
    digests = f'data-page="{_sha256(f"{before}{figures}{end}{after}".encode())}" data-samples="{_sha256(content)}"'
    samples = f'<script type="{KIND}" id="dataset" {digests}>{base64.b64encode(content).decode()}</script>\n'
    return f"{before}{figures}{samples}{end}{after}"


def read_page(path: Path) -> Page:
    """The report in a file.

    UsageError when it carries no samples, or those of another format; InvalidMeasurement when what it carries is damaged.
    """
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}", hint="name a report, a run folder or a run") from error
    except (UnreadableFile, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no report of orch: {error}", hint="name an HTML file of `orch report`") from error
    samples = _BLOCK.search(text)
    if samples is None and KIND not in text:
        raise UsageError(f"{path} carries no samples", hint="`orch report RUN --samples` writes a report that does")
    try:
        content = base64.b64decode("".join(samples["text"].split()), validate=True) if samples else b""
    except ValueError:
        content = b""
    if samples is None or _sha256(content) != samples["samples"]:
        raise InvalidMeasurement(f"{path}: its samples are truncated or altered", hint="copy the whole file again")
    page = text[: samples.start()] + text[samples.end() :]
    return Page(path, page, samples["page"], opened(content, path))


def is_page(name: str) -> bool:
    """Whether a word of the command line names a report's file, not a run."""
    return name.lower().endswith((".html", ".htm"))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
