"""Attacks on stored runs: flipped bits, edited digits, forged journals."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import OrchError
from orchestrator.experiment.plan import plan as p
from orchestrator.record_layout import COLUMNS
from orchestrator.report.render import render
from orchestrator.results.documents import sha256_of
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Journal
from tests.attacks.base import Attack, Tally
from tests.support.drafts import Draft
from tests.support.runs import MemoryRun, a_plan, a_run, write_run

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
    """A key of plan or journal changed, removed or added as no part of orch does, the chain made anew: hostile folders.

    Every other time of a run over distances and TLS, which has curves, fitted round trips, links and handshakes.
    """
    tally = Tally()
    originals = _original(folder), write_run(_distant(), folder / "distant")
    source = random.Random(seed)
    for number in range(count):
        run = folder / f"forged-{number}"
        shutil.copytree(originals[number % 2], run)
        what = forge(source, run)
        (run / "manifest.json").unlink()
        try:
            RunFolder(run).write_manifest()  # as the forger would, from what it says now
            summary = summarise(RunFolder.open(run))
            json.dumps(summary.to_dict(), allow_nan=False).encode()
            render(summary)
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
    1e308,
    1.5,
    True,
    [None],
    {"a": None},
)


def forge(source: random.Random, run: Path, hostile: Sequence[Any] = _HOSTILE) -> str:
    """Change, remove or add one key of the plan or of an event, and make digest and chain anew."""
    events = list(Journal(run / "journal.jsonl").events())
    plan = json.loads((run / "plan.json").read_text(encoding="utf-8"))
    number = source.choice([None, *range(len(events))]) if source.random() < 0.7 else None
    holder = document = plan if number is None else events[number]
    path = source.choice(_paths(document))
    value = source.choice(hostile)
    for key in path[:-1]:
        holder = holder[key]
    where = f"{'plan' if number is None else f'event {number}'}, {path}"
    chance = source.random()
    if chance < 0.2:
        what = f"{where} removed"
        del holder[path[-1]]
    elif chance < 0.3 and isinstance(holder, dict):
        what = f"{where}: a key beside it = {value!r}"
        holder["nobody knows this"] = value
    else:
        what = f"{where} = {value!r}"
        holder[path[-1]] = value
    if number is None:
        (run / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    for event in events if number is None else ():
        if event["event"] == "begin":
            event["files"]["plan.json"] = hashlib.sha256((run / "plan.json").read_bytes()).hexdigest()
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


def hostile_files(count: int, seed: int, folder: Path) -> Tally:
    """A file of a run replaced: by a link, something endless or vast, the same data in other bytes, a bomb."""

    def replace(source: random.Random, run: Path) -> str:
        path, kind = _some_file(source, run), source.choice(list(_KINDS))
        _KINDS[kind](path, run.parent / "outside")
        return f"{path.name} is {kind}"

    return _changed(count, seed, folder, replace)


def _a_link(path: Path, outside: Path) -> None:
    path.rename(outside)
    path.symlink_to(outside)


def _a_link_to_something_endless(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _in_a_linked_folder(path: Path, outside: Path) -> None:
    if path.parent.name == "original":
        _a_link(path, outside)
    else:
        _a_link(path.parent, outside)


def _a_hard_link(path: Path, outside: Path) -> None:
    outside.hardlink_to(path)


def _a_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _a_folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


def _vast(path: Path, outside: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 42)


def _gone(path: Path, outside: Path) -> None:
    path.unlink()


def _the_same_in_other_bytes(path: Path, outside: Path) -> None:
    if path.suffix == ".json":
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(dict(reversed(document.items())), indent=1) + "\n", encoding="utf-8")
    else:
        path.write_bytes(path.read_bytes() + b"\n")


def _torn(path: Path, outside: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\n" + content[len(content) // 2 + 9 :])


def _a_bomb(path: Path, outside: Path) -> None:
    """Few bytes that stand for many rows; the run says that they belong to it, its chain and manifest made anew."""
    run = next(parent for parent in path.parents if parent.name == "original")
    sample = path if path.suffix == ".parquet" else sorted(run.rglob("*.parquet"))[0]
    zeros = np.zeros(3_000_000, dtype=np.int64)
    pq.write_table(pa.table(dict.fromkeys(COLUMNS, zeros)), sample, compression="zstd")
    events = list(Journal(run / "journal.jsonl").events())
    (run / "journal.jsonl").unlink()
    journal = Journal(run / "journal.jsonl")
    for event in events:
        if event["event"] == "file" and event["path"] == sample.relative_to(run).as_posix():
            event["sha256"] = sha256_of(sample)
        journal.append(event, sync=False)
    (run / "manifest.json").unlink()
    RunFolder(run).write_manifest()


_KINDS: dict[str, Callable[[Path, Path], None]] = {
    "a link": _a_link,
    "a link to something endless": _a_link_to_something_endless,
    "in a linked folder": _in_a_linked_folder,
    "a hard link": _a_hard_link,
    "a pipe": _a_pipe,
    "a folder": _a_folder,
    "vast": _vast,
    "gone": _gone,
    "the same in other bytes": _the_same_in_other_bytes,
    "torn": _torn,
    "a bomb": _a_bomb,
}


def _some_file(source: random.Random, run: Path) -> Path:
    samples = sorted(run.rglob("*.parquet"))
    return source.choice([*(run / name for name in _DOCUMENTS), source.choice(samples)])


def _original(folder: Path) -> Path:
    return write_run(a_run(blocks=3), folder / "original")


def _distant() -> MemoryRun:
    placements = [
        p.Placement(
            id=f"d{rtt:g}",
            name=f"distance-{rtt:g}ms",
            kind="cross-region",
            from_zone=f"lab-{rtt:g}-a",
            to_zone="us-central1-a",
            link=p.Link(rtt_ms=rtt, rate_mbit=1000.0),
        )
        for rtt in (1.0, 20.0, 50.0)
    ]

    def secured(draft: Draft) -> None:
        draft.done["tls"] = {"version": "TLSv1.3", "cipher": None, "handshakes": 40, "resumed": 0}

    call, load = {"connection": "per-request", "tls": "tls1.3"}, p.Load(concurrency=1, requests=30)
    return a_run(a_plan(placements=placements, calls=[call], load=load, warmup=5, blocks=3), spoil=secured)


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
    """All that a summary says; but for the word that the journal was added to, where no whole line was."""
    warnings = [text for text in summary.warnings if not text.startswith("journal.jsonl continues after manifest.json")]
    return json.dumps({**summary.to_dict(), "manifest_sha256": "", "warnings": warnings}, sort_keys=True)


ATTACKS = (
    Attack(name="a flipped bit in a stored run", many=500, few=25, run=flips),
    Attack(name="an edited digit in a stored run", many=200, few=15, run=digits),
    Attack(name="a hostile file in a stored run", many=200, few=25, run=hostile_files),
    Attack(name="a forged value in a run from elsewhere", many=300, few=30, run=forgeries),
)
