"""A stored run that is damaged gives an error of ours, or the very same figures: flipped bits, edited digits, torn files."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import OrchError
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.support.runs import a_run, write_run

TRIES = 15
DOCUMENTS = ("plan.json", "journal.jsonl", "manifest.json")


def some_file(source: random.Random, run: Path) -> Path:
    samples = sorted(run.rglob("*.parquet"))
    return source.choice([*(run / name for name in DOCUMENTS), source.choice(samples)])


def flipped_bit(source: random.Random, run: Path) -> None:
    path = some_file(source, run)
    content = bytearray(path.read_bytes())
    content[source.randrange(len(content))] ^= 1 << source.randrange(8)
    path.write_bytes(content)


def edited_digit(source: random.Random, run: Path) -> None:
    path = run / source.choice(DOCUMENTS)
    text = path.read_text(encoding="utf-8")
    place = source.choice([match.start() for match in re.finditer(r"\d", text)])
    digit = source.choice([d for d in "0123456789" if d != text[place]])
    path.write_text(text[:place] + digit + text[place + 1 :], encoding="utf-8")


def torn(source: random.Random, run: Path) -> None:
    path = some_file(source, run)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\n" + content[len(content) // 2 + 9 :])


def figures(run: Path) -> str:
    """All that a summary holds."""
    return json.dumps({**summarise(RunFolder.open(run)).to_dict(), "manifest_sha256": ""}, sort_keys=True)


@pytest.mark.parametrize("damage", [flipped_bit, edited_digit, torn])
def test_damage_is_refused_or_changes_no_figure(damage: Callable[[random.Random, Path], None], tmp_path: Path) -> None:
    original = write_run(a_run(blocks=3), tmp_path / "original")
    expected = figures(original)
    source = random.Random(7)
    for number in range(TRIES):
        run = tmp_path / str(number) / original.name
        shutil.copytree(original, run)
        damage(source, run)
        try:
            assert figures(run) == expected, f"other figures after try {number}"
        except OrchError:
            continue
