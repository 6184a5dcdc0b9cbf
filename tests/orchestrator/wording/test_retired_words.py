"""No text that a user reads has a word that the glossary replaced: golden texts, docs, protos, experiments, templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RETIRED = re.compile(
    r"\b(?:is|are|was|be|been) (?:told|said)\b|\btold apart\b|\b(?:is|are|then) ahead\b|\bsoonest\b|\bsurely\b|\bsealed\b"
    r"|(?<!each )\bof which\b|\bstands?\b(?! for\b)|\basks\b",
    re.IGNORECASE,
)
# The names of keys and columns, code, comments of templates and what a template computes are no prose.
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|<code>.*?</code>|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}|<[^>]+>", re.DOTALL)


def texts() -> Iterator[Path]:
    """Yield every file of texts that users read, but for what others published."""
    yield from (ROOT / "README.md", ROOT / "experiments" / "README.md")
    yield from (*ROOT.glob("experiments/**/*.yaml"), *ROOT.glob("protos/*.md"))
    yield from (path for path in ROOT.glob("docs/**/*.md") if path.parent.name != "validation")
    yield from ROOT.glob("orchestrator/*/templates/*.html")
    yield from ROOT.glob("tests/corpus/answers/*.txt")
    yield from ROOT.glob("tests/orchestrator/cli/terminal/*.txt")
    yield from ROOT.glob("tests/orchestrator/questions/shown/*.txt")
    yield ROOT / "tests" / "orchestrator" / "wording" / "answers.txt"


@pytest.mark.parametrize("path", sorted(texts()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_word_is_one_that_the_glossary_replaced(path: Path) -> None:
    text = NO_PROSE.sub(" ", path.read_text(encoding="utf-8"))
    assert [line.strip() for line in text.splitlines() if RETIRED.search(line)] == []
