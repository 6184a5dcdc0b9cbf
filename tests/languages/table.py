"""Which implementation keeps which promise of `protos/`, as CSV: `python -m tests.languages.table [--write]`.

Every language whose programs are built here is held against every promise, and its ends against those of other languages.
A cell is what pytest counted in that run; nothing is taken from an earlier one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.simulated import as_csv
from orchestrator.catalogue.read import catalogue
from tests.support.built import why_not

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "validation" / "conformance.csv"
PROMISES, MEETING = Path("tests/conformance/promises"), Path("tests/languages/test_languages_meet.py")


@dataclass
class Promise:
    """What came of the cases of one promise; `reasons`: why cases were skipped."""

    passed: int = 0
    failed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def words(self, notes: dict[str, int]) -> str:
        """The cell; why it has no case is below the table, by its number in `notes`."""
        if self.failed:
            return f"{self.failed} failed, {self.passed} passed"
        if self.passed:
            return str(self.passed)
        return ", ".join(f"[{notes.setdefault(reason, len(notes) + 1)}]" for reason in sorted(self.reasons))


Kept = Mapping[tuple[str, str], Promise]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite and print or write the table; 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--whole", action="store_true", help="everything of Python, too, which takes an hour")
    parser.add_argument("--workers", default="auto", help="how many cases beside each other (pytest-xdist's -n)")
    chosen = parser.parse_args(arguments)
    languages = sorted(catalogue().languages.values(), key=lambda of: (of.precedence, of.name))
    kept: dict[str, Kept] = {}
    for language in languages:
        if why := why_not(language.name):
            sys.stderr.write(f"{language.title} is left out: {why}\n")
        else:
            whole = ["--conformance-all"] if language.build or chosen.whole else []
            kept[language.title] = _run(chosen.workers, PROMISES, "--implementation", language.name, *whole)
    meeting = _run(chosen.workers, MEETING)
    text = page(kept, meeting)
    if chosen.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    found = [promise for cells in (*kept.values(), meeting) for promise in cells.values()]
    return int(any(promise.failed for promise in found))


def _run(workers: str, place: Path, *options: str) -> Kept:
    """Every promise that pytest finds there, with what came of its cases; what failed is tried again, alone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", str(place), *options, "-o", f"cache_dir={folder}/cache"]
        first, again = Path(folder, "first.xml"), Path(folder, "again.xml")
        if _pytest([*command, "-n", workers, f"--junitxml={first}"]):
            _pytest([*command, "-n", "0", "--retry", f"--junitxml={again}"])
        return read(first.read_bytes(), again.read_bytes() if again.exists() else None)


def _pytest(command: Sequence[str]) -> int:
    """Its exit status; what it prints goes to stderr."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=False).returncode


def read(first: bytes, again: bytes | None = None) -> Kept:
    """The promises of a run as pytest's JUnit XML tells them; a case that passed `again` has passed."""
    passed_again = {_case(case) for case in _cases(again) if len(case) == 0} if again else set()
    found: defaultdict[tuple[str, str], Promise] = defaultdict(Promise)
    for case in _cases(first):
        chapter, name = _case(case)
        promise = found[chapter, name.partition("[")[0]]
        if (skipped := case.find("skipped")) is not None:
            promise.reasons[_reason(skipped.get("message", ""))] += 1
        elif len(case) == 0 or (chapter, name) in passed_again:
            promise.passed += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            promise.failed += 1
        else:
            promise.passed += 1
    return dict(found)


def _cases(document: bytes) -> Iterable[ElementTree.Element]:
    return ElementTree.fromstring(document).iter("testcase")  # noqa: S314 (pytest wrote it just now)


def _case(case: ElementTree.Element) -> tuple[str, str]:
    return case.get("classname", "").rpartition(".")[2], case.get("name", "")


def _reason(message: str) -> str:
    return "it offers nothing that this could be asked of" if message.startswith("got empty parameter set") else message


def page(kept: Mapping[str, Kept], meeting: Kept) -> str:
    """The table as CSV: promises down, implementations across; then the reasons, by their numbers."""
    notes: dict[str, int] = {}
    lines = ["| promise | " + " | ".join(kept) + " |"]
    rows = sorted({promise for cells in kept.values() for promise in cells})
    for chapter, name in rows:
        cells = [promises.get((chapter, name), Promise()).words(notes) for promises in kept.values()]
        lines.append(f"| {_words(chapter)}: {_words(name)} | " + " | ".join(cells) + " |")
    totals = [sum(promise.passed for promise in promises.values()) for promises in kept.values()]
    lines.append("| cases that passed | " + " | ".join(map(str, totals)) + " |")
    lines += [f"| [{number}] {reason} |" for reason, number in notes.items()]
    passed, failed = (sum(getattr(promise, name) for promise in meeting.values()) for name in ("passed", "failed"))
    skipped = sum(promise.reasons.total() for promise in meeting.values())
    lines.append(f"| pairs of two languages: {passed} passed, {failed} failed, {skipped} skipped |")
    return as_csv(lines)


def _words(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
