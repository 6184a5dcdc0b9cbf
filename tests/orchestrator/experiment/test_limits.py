"""What an experiment may cost to read and to multiply out, and what files are read at all."""

import os
from pathlib import Path

import pytest

from tests.support.experiments import MINIMAL, Known, Write, problems


def test_a_thousand_loads_a_thousand_times_are_refused_by_their_product(write: Write, known: Known) -> None:
    loads = f"load: {{concurrency: {list(range(1, 1001))}}}\n"
    assert problems(write(f"{MINIMAL}{loads}repeats: 1000\n"), known)[0] == (
        "6:10: 2,000 cells or probes x 1,000 repeats are 2,000,000 trials; a plan has at most 50,000. Ask less at once."
    )
    sizes = ", ".join(f"{size} B" for size in range(1, 11))
    text = MINIMAL.replace("timestamp", f"{{echo: {{bytes: [{sizes}]}}}}") + loads
    assert problems(write(text), known)[0].endswith(
        "2 stacks x 10,000 operations x 1 placements are 20,000 cells; a plan has at most 10,000. Ask less at once."
    )


@pytest.mark.parametrize("name", ["/etc/hostname", "../outside.json", "link.json"])
def test_a_payload_lies_in_the_experiments_folder(write: Write, known: Known, tmp_path: Path, name: str) -> None:
    (tmp_path / "link.json").symlink_to("/etc/hostname")
    path = write(MINIMAL.replace("timestamp", f"{{echo: {{json: {name}}}}}"))
    assert "is outside the experiment's folder" in problems(path, known)[0]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, known: Known) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    (problem,) = problems(tmp_path / "x.yaml", known)
    assert problem.startswith("1:1: the file ")
