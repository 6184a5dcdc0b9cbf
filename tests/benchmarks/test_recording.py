"""What the benchmark of recording says of the figures that a language's program tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.recording import PROGRAMS, figures, lacking, lines


def test_the_least_of_the_rounds_is_what_it_costs() -> None:
    told = {"clock": [20.0, 30.0], "rows": [45.0, 500.0, 46.0], "books": {"1": [70.0], "several": [60.0, 61.0]}}
    assert figures(told) == {
        "clock": (20.0, 25.0),
        "rows": (45.0, 46.0),
        "books, 1 in flight": (70.0, 70.0),
        "books, several in flight": (60.0, 60.5),
    }


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_language_without_such_a_program_is_not_measured(language: str, tmp_path: Path) -> None:
    assert PROGRAMS[language].source in lacking(language, tmp_path)


@pytest.mark.parametrize("language", PROGRAMS)
def test_each_has_one(language: str) -> None:
    assert PROGRAMS[language].source not in lacking(language)


@pytest.mark.parametrize(("rows", "word"), [([50.0, 90.0], "ok"), ([50.1, 50.1], "ABOVE")])
def test_a_row_has_a_verdict_and_nothing_else(rows: list[float], word: str) -> None:
    told = lines("x", {"clock": [90.0], "rows": rows, "books": {"1": [90.0]}})
    assert [line.split()[-1] for line in told if "rows" in line] == [word]
    assert [line.split()[-1] for line in told if "rows" not in line] == ["90.0)", "90.0)"]
