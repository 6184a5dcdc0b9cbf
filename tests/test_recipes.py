"""The pages that say how to add something, followed to the letter in a fresh copy of the tree.

A page is read as a newcomer follows it: files to create, lines to insert or replace, commands to run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from orchestrator.errors import InvalidMeasurement

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "docs" / "contributing"
ALL_PAGES = sorted(path.stem for path in RECIPES.glob("add-*.md"))
# The factor first: its page plans shipped experiments, which then have the cells of the tree as it is.
# tests/conformance/test_add_a_language.py follows the page that is missing here.
PAGES = ("add-a-factor", "add-a-codec", "add-a-protocol", "add-a-question", "add-an-operation")
LARGEST = 7  # files outside services/ that a recipe may take

Kind = Literal["create", "insert", "replace", "run", "prints"]

_SENTENCES: dict[Kind, re.Pattern[str]] = {
    "create": re.compile(r"Create `(?P<path>[^`]+)`:"),
    "insert": re.compile(r"In `(?P<path>[^`]+)`, insert after `(?P<line>[^`]+)`:"),
    "replace": re.compile(r"In `(?P<path>[^`]+)`, replace `(?P<line>[^`]+)` with:"),
    "run": re.compile(r"(?:.* )?Run:"),
    "prints": re.compile(r"It prints, among other lines:"),
}
_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n\n```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One code block, and what the sentence before it says to do with it."""

    kind: Kind
    text: str
    path: str = ""
    line: str = ""


def steps(page: str) -> list[Step]:
    """Every code block of a page; ValueError for one whose purpose is not said."""
    found = list(_read(page))
    if len(found) != page.count("\n```") // 2:
        raise ValueError("a code block does not follow a sentence of its own")
    return found


def _read(page: str) -> Iterator[Step]:
    for block in _BLOCK.finditer(page):
        for kind, sentence in _SENTENCES.items():
            if match := sentence.fullmatch(block["before"]):
                yield Step(kind=kind, text=block["text"], **match.groupdict())
                break
        else:
            raise ValueError(f"what is to be done with the block after {block['before']!r}?")


def copy_tree(to: Path) -> None:
    """The files that git tracks (or would), and the virtual environment under the name that pages use."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (to / ".venv").symlink_to(sys.prefix)


def apply(step: Step, tree: Path) -> None:
    """Create or change a file; ValueError where the page does not fit the tree."""
    path = tree / step.path
    if step.kind == "create":
        if path.exists():
            raise ValueError(f"{step.path} exists already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if (count := lines.count(step.line + "\n")) != 1:
        raise ValueError(f"{step.path} has the line {step.line!r} {count} times")
    place = lines.index(step.line + "\n")
    lines[place : place + 1] = ([step.line + "\n"] if step.kind == "insert" else []) + [step.text]
    path.write_text("".join(lines), encoding="utf-8")


def run(command: str, tree: Path) -> str:
    """What a command of the page prints; AssertionError with its output when it fails."""
    # The environment has orch installed from another folder; what is imported must be the copy.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # A busy machine makes numbers invalid, and a run says so; what the page adds works all the same.
    allowed = (0, InvalidMeasurement.exit_code) if " run --share-machine " in command else (0,)
    assert ended.returncode in allowed, f"{command}\n{ended.stdout}"
    return ended.stdout


def follow(page: Path, tree: Path) -> Iterator[tuple[str, str]]:
    """Do what a page says, block by block: each command with what it printed. Promised output is checked."""
    printed = ""
    for step in steps(page.read_text(encoding="utf-8")):
        if step.kind == "run":
            printed = ""
            for command in step.text.splitlines():
                printed += (output := run(command, tree))
                yield command, output
        elif step.kind == "prints":
            missing = [line for line in step.text.splitlines() if line not in printed]
            assert not missing, f"not printed: {missing}\n{printed}"
        else:
            apply(step, tree)


def test_every_page_is_followed() -> None:
    assert sorted((*PAGES, "add-a-language")) == ALL_PAGES


def test_the_pages_fit_the_tree_and_say_what_each_block_is_for(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    for name in PAGES:
        blocks = steps((RECIPES / f"{name}.md").read_text())
        assert {"create", "run", "prints"} <= {step.kind for step in blocks}, name
        for step in blocks:
            if step.path:
                apply(step, tmp_path)


@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_page_is_found_from_where_newcomers_begin(name: str) -> None:
    assert f"docs/contributing/{name}.md" in (ROOT / "CONTRIBUTING.md").read_text()
    assert f"(contributing/{name}.md)" in (ROOT / "docs" / "architecture.md").read_text()


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.timeout(1800)
def test_whoever_follows_the_pages_one_after_the_other_has_what_they_promise(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    for name in PAGES:
        before = set(tmp_path.glob("results/*"))
        printed = dict(follow(RECIPES / f"{name}.md", tmp_path))
        assert any(command.startswith(".venv/bin/orch run --share-machine") for command in printed), name
        [measured] = set(tmp_path.glob("results/*")) - before
        assert json.loads((measured / "summary.json").read_text())["cells"], name
        made = {step.path for step in steps((RECIPES / f"{name}.md").read_text()) if step.path}
        code = [path for path in sorted(made) if path.endswith(".py")]
        run(f".venv/bin/ruff check {' '.join(code)} && .venv/bin/ruff format --check {' '.join(code)}", tmp_path)
        outside = {path for path in made if not path.startswith("services/")}
        assert len(outside | {"experiments/schema.json", "CHANGELOG.md"}) <= LARGEST, name
