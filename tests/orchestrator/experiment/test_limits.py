"""What an experiment may cost to read and to multiply out, and what files are read at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from tests.support.experiments import MINIMAL, problems

Write = Callable[[str], Path]
Known = dict[str, Protocol]


def test_a_thousand_loads_a_thousand_times_are_refused_by_their_product(write: Write, known: Known) -> None:
    loads = f"load: {{concurrency: {list(range(1, 1001))}}}\n"
    assert problems(write(f"{MINIMAL}{loads}repeats: 1000\n"), known)[0] == (
        "6:10: 2,000 cells x 1,000 repeats are 2,000,000 trials; a plan has at most 50,000. Ask less at once."
    )
    sizes = ", ".join(f"{size} B" for size in range(1, 11))
    text = MINIMAL.replace("timestamp", f"{{echo: {{bytes: [{sizes}]}}}}") + loads
    assert problems(write(text), known)[0].endswith(
        "2 stacks and connections x 10,000 operations and loads x 1 placements are 20,000 cells;"
        " a plan has at most 10,000. Ask less at once."
    )


@pytest.mark.parametrize("name", ["/etc/hostname", "../outside.json", "link.json"])
def test_a_payload_lies_in_the_experiments_folder(write: Write, known: Known, tmp_path: Path, name: str) -> None:
    (tmp_path / "link.json").symlink_to("/etc/hostname")
    path = write(MINIMAL.replace("timestamp", f"{{echo: {{json: {name}}}}}"))
    assert "is outside the experiment's folder" in problems(path, known)[0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("limits: {wall: " + "9" * 400 + "s}", "has more than 30 digits"),
        ("limits: {wall: 169h}", "'wall': must be at most 168 h; it is '169h'"),
        ('question: "a\\eb"', "holds the character U+001B"),
        ('reference: "a\\u202eb"', "holds the character U+202E"),
        ('reference: "a\\0b"', "holds the character U+0000"),
        (f"reference: '{'x' * 201}'", "longer than 200 characters"),
    ],
)
def test_values_that_no_experiment_needs_are_refused(write: Write, known: Known, value: str, words: str) -> None:
    text = MINIMAL.replace("question: Which is quicker?\n", "") if value.startswith("question") else MINIMAL
    found = problems(write(f"{text}{value}\n"), known)
    assert any(words in problem for problem in found), found


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, kind: str, known: Known) -> None:
    path = tmp_path / "x.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    (problem,) = problems(path, known)
    assert problem.startswith("1:1: the file ")
