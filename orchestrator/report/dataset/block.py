"""The data block at the end of a report: put there, and found again in a file that anybody may have changed."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.files import UnreadableFile, read_file
from orchestrator.report import in_text
from orchestrator.report.dataset.run import Dataset, opened
from orchestrator.results import sizes

KIND = "application/vnd.orch.run+zip"
_END = "</body>"
_OPEN = re.compile(rf'<script\b(?=[^<>]{{0,400}}\stype="?{re.escape(KIND)}"?)(?P<attributes>[^<>]{{0,400}})>', re.I)
_CLOSE = re.compile(r"</script\s*>\n?", re.I)
_PAGE = re.compile(r'\sdata-page="([0-9a-f]{64})"')
_ATTRIBUTES = re.compile(rf' type="{re.escape(KIND)}" id="dataset" data-page="[0-9a-f]{{64}}"(?: data-text="85")?')
_AFTER = re.compile(r"\s*</body>\s*</html>\s*")
_TEXT = re.compile(r'\sdata-text="?85\b')  # without it: base64, as the first reports with samples have
_OURS = '<a class="skip" href="#main">Skip to the results</a>'
_SAVED = re.compile(
    r"<!--\s*saved from url=|<html\b[^<>]{0,400}\sdata-script="
    r'|<button\b(?=[^<>]{0,400}\bid="theme")[^<>]{0,400}\saria-label=',
    re.I,
)


@dataclass(frozen=True)
class Page:
    """A report from elsewhere: the page without its block, what that is said to have been, and what the block holds."""

    path: Path
    text: str
    sha256: str
    dataset: Dataset

    @property
    def is_saved_by_browser(self) -> bool:
        """Whether a browser wrote the file, from what the page's script had made of it."""
        return _SAVED.search(self.text) is not None

    @property
    def is_as_written(self) -> bool:
        """Whether the page is the one that the block was written with, by a digest that anybody could compute anew."""
        return hashlib.sha256(self.text.encode()).hexdigest() == self.sha256


def with_block(page: str, content: bytes) -> str:
    """The page with a data block before the end of its body; nothing runs it, and nothing is drawn after it."""
    digest = hashlib.sha256(page.encode()).hexdigest()
    block = (
        f'<script type="{KIND}" id="dataset" data-page="{digest}" data-text="85">{in_text.written(content)}</script>\n'
    )
    before, end, after = page.rpartition(_END)
    return f"{before}{block}{end}{after}"


def read_page(path: Path) -> Page:
    """The report in a file.

    UsageError when it is no report, carries no samples, or is of a newer orch; InvalidMeasurement when what it carries is
    damaged.
    """
    try:
        text = read_file(path, sizes.REPORT).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}", hint="name a report, a run folder or a run") from error
    except UnreadableFile as error:
        raise UsageError(f"{path} {error}", hint="name an HTML file that `orch report` wrote") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no report of orch: it is not text", hint="name an HTML file") from error
    found = list(_OPEN.finditer(text))
    if not found:
        raise _without(path, text)
    if len(found) > 1:
        raise InvalidMeasurement(
            f"{path}: it carries {len(found)} data blocks, and orch writes one",
            hint="somebody put it together: ask for the file as `orch` wrote it",
        )
    opening = found[0]
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        raise InvalidMeasurement(
            f"{path}: it is cut off within its data block",
            hint="copy the whole file again; nothing in it can be checked",
        )
    page = text[: opening.start()] + text[closing.end() :]
    is_at_the_end = _AFTER.fullmatch(text, closing.end()) or _SAVED.search(page)  # a browser's script adds to the body
    if not is_at_the_end or not _ATTRIBUTES.fullmatch(opening["attributes"]):
        raise InvalidMeasurement(
            f"{path}: its data block is not the one that orch writes: it is in another place, or has other attributes",
            hint="somebody changed the file: ask for it as `orch` wrote it",
        )
    said = _PAGE.search(opening["attributes"])
    is_base64 = _TEXT.search(opening["attributes"]) is None
    content = _decoded(path, text[opening.end() : closing.start()], is_base64=is_base64)
    return Page(path, page, said[1] if said else "", opened(content, path))


def is_page(name: str) -> bool:
    """Whether a word of the command line names a report's file, not a run."""
    return name.lower().endswith((".html", ".htm"))


def _decoded(path: Path, text: str, *, is_base64: bool) -> bytes:
    letters = "".join(text.split())
    try:
        return base64.b64decode(letters, validate=True) if is_base64 else in_text.read(letters)
    except ValueError as error:
        raise InvalidMeasurement(
            f"{path}: its data block is truncated or altered: {error}", hint="copy the whole file again"
        ) from error


def _without(path: Path, text: str) -> UsageError:
    if _OURS in text or _SAVED.search(text):
        return UsageError(
            f"{path} carries no samples: it is of several runs, an earlier orch wrote it, or somebody took them out",
            hint="ask each run's own report, or its folder: `orch report RUN`",
        )
    return UsageError(f"{path} is no report of orch", hint="name an HTML file that `orch report` wrote")
