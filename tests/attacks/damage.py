"""Damage to stored runs: flipped bits, edited digits, files that are torn, lengthened or gone."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import OrchError
from orchestrator.results.folder import RunFolder
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


def damaged_files(count: int, seed: int, folder: Path) -> Tally:
    """A file of a run torn, lengthened, a folder in its place, or gone."""

    def replace(source: random.Random, run: Path) -> str:
        path, kind = _some_file(source, run), source.choice(list(_KINDS))
        _KINDS[kind](path)
        return f"{path.name} is {kind}"

    return _changed(count, seed, folder, replace)


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(bytes(4096))


def _gone(path: Path) -> None:
    path.unlink()


def _torn(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\n" + content[len(content) // 2 + 9 :])


_KINDS: dict[str, Callable[[Path], None]] = {
    "a folder": _a_folder,
    "longer": _longer,
    "gone": _gone,
    "torn": _torn,
}


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
    """All that a summary says; but for the word that the journal was added to, where no whole line was."""
    warnings = [text for text in summary.warnings if not text.startswith("journal.jsonl continues after manifest.json")]
    return json.dumps({**summary.to_dict(), "manifest_sha256": "", "warnings": warnings}, sort_keys=True)


ATTACKS = (
    Attack(name="a flipped bit in a stored run", many=500, few=25, run=flips),
    Attack(name="an edited digit in a stored run", many=200, few=15, run=digits),
    Attack(name="a damaged file in a stored run", many=200, few=25, run=damaged_files),
)
