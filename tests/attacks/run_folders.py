"""Attacks on stored runs: flipped bits, edited digits, forged journals."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import OrchError
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Journal
from tests.attacks.base import Attack, Tally
from tests.support.runs import a_run, write_run

_DOCUMENTS = ("plan.json", "journal.jsonl", "manifest.json")


def flips(count: int, seed: int, folder: Path) -> Tally:
    """One bit flipped in plan, journal, manifest or a samples file, each as often as the others."""

    def flip(source: random.Random, run: Path) -> str:
        path = _some_file(source, run)
        content = bytearray(path.read_bytes())
        place = source.randrange(len(content))
        content[place] ^= 1 << source.randrange(8)
        path.write_bytes(content)
        return f"{path.name}, byte {place}"

    return _changed(count, seed, folder, flip)


def digits(count: int, seed: int, folder: Path) -> Tally:
    """One digit of plan, journal or manifest replaced by another."""

    def edit(source: random.Random, run: Path) -> str:
        path = run / source.choice(_DOCUMENTS)
        text = path.read_text(encoding="utf-8")
        place = source.choice([match.start() for match in re.finditer(r"\d", text)])
        digit = source.choice([d for d in "0123456789" if d != text[place]])
        path.write_text(text[:place] + digit + text[place + 1 :], encoding="utf-8")
        return f"{path.name}, character {place}: {text[place - 20 : place + 5]!r} with {digit}"

    return _changed(count, seed, folder, edit)


def forgeries(count: int, seed: int, folder: Path) -> Tally:
    """A value of the journal replaced by one that no part of orch writes, the chain made anew: a hostile folder."""
    tally = Tally()
    original = _original(folder)
    source = random.Random(seed)
    for number in range(count):
        run = folder / f"forged-{number}"
        shutil.copytree(original, run)
        what = _forge(source, run)
        (run / "manifest.json").unlink()
        try:
            summary = summarise(RunFolder.open(run))
            json.dumps(summary.to_dict(), allow_nan=False).encode()
            tally.note("harmless", what)
        except OrchError:
            tally.note("refused", what)
        except Exception as error:  # noqa: BLE001 - any other end is what the attack looks for
            tally.note(f"{type(error).__name__}: {error}", what)
        shutil.rmtree(run)
    return tally


_HOSTILE: tuple[Any, ...] = (
    None,
    [],
    {},
    "",
    "x",
    "../../../etc/passwd",
    "\x1b]0;owned\x07",
    "<script>alert(1)</script>",
    -1,
    0,
    10**17,
    1.5,
    True,
    [None],
    {"a": None},
)


def _forge(source: random.Random, run: Path) -> str:
    events = list(Journal(run / "journal.jsonl").events())
    places = [(number, path) for number, event in enumerate(events) for path in _paths(event)]
    number, path = source.choice(places)
    value = source.choice(_HOSTILE)
    holder = events[number]
    for key in path[:-1]:
        holder = holder[key]
    if source.random() < 0.2:
        what = f"event {number}, {path} removed"
        del holder[path[-1]]
    else:
        what = f"event {number}, {path} = {value!r}"
        holder[path[-1]] = value
    (run / "journal.jsonl").unlink()
    journal = Journal(run / "journal.jsonl")
    for event in events:
        journal.append(event, sync=False)
    return what


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, item in items:
        found += [(*before, key), *_paths(item, (*before, key))]
    return found


def _some_file(source: random.Random, run: Path) -> Path:
    samples = sorted(run.rglob("*.parquet"))
    return source.choice([*(run / name for name in _DOCUMENTS), source.choice(samples)])


def _original(folder: Path) -> Path:
    return write_run(a_run(blocks=3), folder / "original")


def _changed(count: int, seed: int, folder: Path, change: Callable[[random.Random, Path], str]) -> Tally:
    """Change a run's copy, and summarise it: an error of ours, or the very same figures."""
    tally = Tally()
    original = _original(folder)
    expected = _figures(summarise(RunFolder.open(original)))
    source = random.Random(seed)
    for number in range(count):
        run = folder / f"run-{number}" / "original"
        shutil.copytree(original, run)
        what = change(source, run)
        try:
            same = _figures(summarise(RunFolder.open(run))) == expected
            tally.note("harmless" if same else "other figures, without a word", what)
        except OrchError:
            tally.note("refused", what)
        except Exception as error:  # noqa: BLE001 - any other end is what the attack looks for
            tally.note(f"{type(error).__name__}: {error}", what)
        shutil.rmtree(run.parent)
    return tally


def _figures(summary: RunSummary) -> str:
    return json.dumps({**summary.to_dict(), "manifest_sha256": ""}, sort_keys=True)


ATTACKS = (
    Attack(name="a flipped bit in a stored run", many=500, few=25, run=flips),
    Attack(name="an edited digit in a stored run", many=200, few=15, run=digits),
    Attack(name="a forged value in a run from elsewhere", many=300, few=30, run=forgeries),
)
