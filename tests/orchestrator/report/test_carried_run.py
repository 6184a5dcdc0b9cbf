"""Reports that carry their run: what is made again from them, and what is refused."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.report import carried_run
from orchestrator.report.carried_run import KIND, carried, page_with_run
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.support.runs import a_run, write_run

BLOCK = re.compile(rf'(<script type="{re.escape(KIND)}"[^>]*>)([^<]*)(</script>\n)')
ROWS = 7_620


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("carried") / "results"
    return RunFolder.open(write_run(a_run(blocks=3), root / "a-run"), root=root)


@pytest.fixture(scope="module")
def text(folder: RunFolder) -> str:
    return page_with_run(folder, summarise(folder))


@pytest.fixture
def report(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def zipped(parts: dict[str, bytes]) -> str:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return base64.b64encode(file.getvalue()).decode()


def entries(text: str) -> dict[str, bytes]:
    match = BLOCK.search(text)
    assert match is not None
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(match[2]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def carrying(text: str, content: str) -> str:
    return BLOCK.sub(lambda match: match[1] + content + match[3], text)


def test_the_same_report_is_made_again_from_itself_alone(folder: RunFolder, report: Path, text: str):
    assert BLOCK.sub("", text) == render(summarise(folder), ROWS)
    with carried(report) as run:
        assert run.is_page_as_written
        assert page_with_run(run, summarise(run)) == text
    report.write_text(text.replace("</main>", "1</main>"), encoding="utf-8")
    with carried(report) as run:
        assert not run.is_page_as_written


def test_more_samples_than_a_report_carries_are_refused(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carried_run, "MOST_ROWS", ROWS - 1)
    with pytest.raises(UsageError, match=r"has 7,620 samples; a report carries at most 7,619"):
        page_with_run(folder, summarise(folder))


def test_a_file_that_is_no_report_is_called_that(tmp_path: Path, text: str):
    path = tmp_path / "x.html"
    with pytest.raises(UsageError, match="there is no file"), carried(path):
        pass
    for content, message in (
        (b"\xff\xfe\x00PNG", "is no report of orch"),
        (BLOCK.sub("", text).encode(), "no samples"),
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=message), carried(path):
            pass


def test_what_is_not_as_it_was_written_is_refused(report: Path, text: str):
    match = BLOCK.search(text)
    assert match is not None
    for changed in (text[: match.start(3) - 50], carrying(text, match[2][:-400]), carrying(text, "no digits!")):
        report.write_text(changed)
        with pytest.raises(InvalidMeasurement, match="truncated or altered"), carried(report):
            pass
    parts = entries(text)
    samples = next(name for name in parts if name.startswith("samples/"))
    without = {name: content for name, content in parts.items() if name != "manifest.json"}
    for changed_parts in (parts | {samples: parts[samples].replace(b"PAR1", b"PAR2")}, without):
        report.write_text(carrying(text, zipped(changed_parts)))
        with pytest.raises(InvalidMeasurement), carried(report) as run:
            summarise(run)
