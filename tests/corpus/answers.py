"""The answer and the notes of every stored run, as text.

`python -m tests.corpus.answers` writes them down anew, to be read as a diff.
"""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path

from orchestrator.cli.answer import short_lines
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.wording.notes import notes

HERE = Path(__file__).parent
RUNS = sorted((HERE / "runs").glob("*.tar.xz"))


def name_of(packed: Path) -> str:
    """Return the name of a stored run."""
    return packed.name.removesuffix(".tar.xz")


def golden(packed: Path) -> Path:
    """Return the file that holds a run's sentences."""
    return HERE / "answers" / f"{name_of(packed)}.txt"


def sentences(packed: Path) -> str:
    """Return what a terminal shows of a stored run, then its notes."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        summary = summarise(RunFolder.open(Path(folder) / name_of(packed)))
    return "\n".join((*short_lines(summary), "", *notes(summary), ""))


if __name__ == "__main__":
    for path in RUNS:
        golden(path).write_text(sentences(path), encoding="utf-8")
