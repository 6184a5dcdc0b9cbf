"""The example that the README shows, made from a run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.example import WIDTH_PX, example
from tests.support.browser import PROGRAM
from tests.support.exported import BROKEN, SOUND, workspace
from tests.support.runs import a_plan, a_run, write_run

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_run(a_run(replace(a_plan(blocks=3), question="Which is soonest?")), tmp_path / "results" / SOUND)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(README.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH")
def test_page_picture_and_readme_are_of_the_run(root: Path) -> None:
    page, picture, readme = example(SOUND, root)
    assert "Which is soonest?" in page.read_text(encoding="utf-8")
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert int.from_bytes(head[16:20]) == WIDTH_PX
    before, after = README.read_text(encoding="utf-8"), readme.read_text(encoding="utf-8")
    block = re.search(r"reports/example\.html` that is\n```\n(.*?)\n```", after, re.DOTALL)
    assert block is not None
    assert "grpc" in block[1]
    assert "Everything else" not in block[1]
    assert after.startswith(before[:500])
    assert after.endswith(before[-500:])


def test_a_run_that_cannot_answer_is_no_example(tmp_path: Path) -> None:
    root = workspace(tmp_path)
    (root / "README.md").write_text(README.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SystemExit, match="is no example"):
        example(BROKEN, root)
    assert not (root / "reports").exists()
