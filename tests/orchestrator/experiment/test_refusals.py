"""What is refused of an experiment, word for word: `refusals.txt` has experiments, each with what a person reads of it.

`python -m tests.orchestrator.experiment.test_refusals` writes the answers anew, for review as a diff. A case lacks the keys
of `USUAL` unless it is about them; it is `whole` where one of these is missing on purpose.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError

FILE = Path(__file__).with_name("refusals.txt")
USUAL = {"name": "refused", "question": "What is refused?", "stacks": "rest", "operations": "timestamp"}
TITLE, ANSWER, SET, WHOLE = "# ", "=> ", "--set ", "whole"


def groups(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and cases of each group; a case is its lines."""
    for part in text.split("\n" + TITLE):
        title, *lines = part.removeprefix(TITLE).split("\n")
        yield title, [list(case) for is_case, case in groupby(lines, bool) if is_case]


def answered(case: Sequence[str], folder: Path) -> list[str]:
    """A case with what is wrong with it."""
    asked = [line for line in case if not line.startswith(ANSWER)]
    lines = [line for line in asked if not line.startswith(SET) and line != WHOLE]
    given = {line.partition(":")[0] for line in lines}
    usual = [] if WHOLE in asked else [f"{key}: {value}" for key, value in USUAL.items() if key not in given]
    path = folder / "refused.yaml"
    path.write_text("\n".join([*lines, *usual, ""]), encoding="utf-8")
    overrides = [line.removeprefix(SET) for line in asked if line.startswith(SET)]
    try:
        make_plan(path, overrides, needs_programs=False)
    except ExperimentError as error:
        problems = [(problem.mark, problem.message.replace(str(folder), "FOLDER")) for problem in error.problems]
        return [*asked, *(f"{ANSWER}{mark.line}:{mark.column} {message}" for mark, message in problems)]
    return [*asked, f"{ANSWER}nothing"]


@pytest.mark.parametrize(("title", "cases"), [pytest.param(t, c, id=t) for t, c in groups(FILE.read_text("utf-8"))])
def test_an_experiment_that_cannot_be_measured_is_refused_in_these_words(
    title: str, cases: list[list[str]], tmp_path: Path
) -> None:
    assert cases, title
    assert [answered(case, tmp_path) for case in cases] == cases
    assert not any(f"{ANSWER}nothing" in case for case in cases)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        parts = [
            TITLE + "\n\n".join([title, *("\n".join(answered(case, Path(made))) for case in cases)])
            for title, cases in groups(FILE.read_text("utf-8"))
        ]
    FILE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
