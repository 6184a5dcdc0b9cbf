"""The pages that say how to add something, followed to the letter in a fresh copy of the tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.recipes import ROOT, Step, apply, copy_tree, follow, run, steps

DOCS = ROOT / "docs"
ALL_PAGES = sorted(path.stem for path in DOCS.glob("add-*.md"))
# The factor first: its page plans shipped experiments, which then have the cells of the tree as it is.
# tests/conformance/test_add_a_language.py follows the page that is missing here.
PAGES = ("add-a-factor", "add-a-codec", "add-a-protocol", "add-an-operation")
LARGEST = 6  # files outside services/ that a factor may take


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_of_every_block_what_it_is_for(name: str) -> None:
    kinds = [step.kind for step in steps((DOCS / f"{name}.md").read_text())]
    assert {"create", "run", "prints"} <= set(kinds)


@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_page_is_found_from_where_newcomers_begin(name: str) -> None:
    assert f"docs/{name}.md" in (ROOT / "CONTRIBUTING.md").read_text()
    assert f"({name}.md)" in (DOCS / "architecture.md").read_text()


def test_a_block_without_a_purpose_is_refused() -> None:
    with pytest.raises(ValueError, match="what is to be done"):
        steps("Look:\n\n```python\nx\n```\n")
    with pytest.raises(ValueError, match="sentence of its own"):
        steps("Run:\n\n```sh\nx\n```\n```sh\ny\n```\n")


def test_a_page_that_does_not_fit_the_tree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    apply(Step(kind="insert", path="a", line="one", text="1.5\n"), tmp_path)
    apply(Step(kind="replace", path="a", line="two", text="2\n"), tmp_path)
    assert (tmp_path / "a").read_text() == "one\n1.5\n2\n"
    with pytest.raises(ValueError, match="0 times"):
        apply(Step(kind="insert", path="a", line="three", text=""), tmp_path)
    with pytest.raises(ValueError, match="exists already"):
        apply(Step(kind="create", path="a", text=""), tmp_path)


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.timeout(900)
def test_whoever_follows_the_pages_one_after_the_other_has_what_they_promise(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    for name in PAGES:
        before = set(tmp_path.glob("results/*"))
        printed = dict(follow(DOCS / f"{name}.md", tmp_path))
        assert any(command.startswith(".venv/bin/orch run --share-machine") for command in printed), name
        [measured] = set(tmp_path.glob("results/*")) - before
        assert json.loads((measured / "summary.json").read_text())["cells"], name
        made = {step.path for step in steps((DOCS / f"{name}.md").read_text()) if step.path}
        code = [path for path in sorted(made) if path.endswith(".py")]
        run(f".venv/bin/ruff check {' '.join(code)} && .venv/bin/ruff format --check {' '.join(code)}", tmp_path)
        outside = {path for path in made if not path.startswith("services/")}
        assert len(outside | {"experiments/schema.json", "CHANGELOG.md"}) <= LARGEST, name
