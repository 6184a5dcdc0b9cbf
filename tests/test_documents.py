"""What the documents point to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "protos").glob("*.md"), *(ROOT / "docs").rglob("*.md")]
)
# Folders of ours that a path in backticks may begin with; `results/` and others are made by running.
OURS = ("ansible", "benchmarks", "docs", "experiments", "infra", "locks", "orchestrator", "protos", "services", "tests")
MADE = {"infra/gcp/.terraform.lock.hcl": "`make lock-providers` writes it"}
NAMED = re.compile(rf"`((?:{'|'.join(OURS)})/[\w./-]*\w/?)`")
LINKED = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def missing(document: Path) -> list[str]:
    text = document.read_text(encoding="utf-8")
    named = [path for path in NAMED.findall(text) if path not in MADE and not (ROOT / path).exists()]
    return named + [path for path in LINKED.findall(text) if not (document.parent / path).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    assert missing(document) == []


def test_a_path_that_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`tests/nowhere.py`, `tests/conftest.py`, [gone](gone.md)")
    assert missing(page) == ["tests/nowhere.py", "gone.md"]
