"""The largest complete part of a matrix with gaps."""

from __future__ import annotations

from itertools import product

import pytest

from orchestrator.questions.shares.complete_matrix import TooManyLevelsError, largest

LANGUAGES = ("Python", "Go", "Rust", "Node.js")
Key = tuple[str, str, str]


def spoken(**languages: tuple[str, ...]) -> set[Key]:
    """Every language with every other, of those that a protocol has."""
    return {(protocol, *ends) for protocol, of in languages.items() for ends in product(of, of)}


def levels(*protocols: str) -> tuple[tuple[str, ...], ...]:
    return (protocols, LANGUAGES, LANGUAGES)


def test_of_a_whole_matrix_it_is_all() -> None:
    cells = spoken(rest=LANGUAGES, grpc=LANGUAGES)
    assert largest(cells, levels("rest", "grpc")) == (("rest", "grpc"), LANGUAGES, LANGUAGES)


def test_a_part_with_both_protocols_comes_before_a_larger_one_with_one() -> None:
    two = ("Python", "Go")
    cells = spoken(rest=LANGUAGES, grpc=two)  # 16 cells of rest alone, 8 of both
    assert largest(cells, levels("rest", "grpc")) == (("rest", "grpc"), two, two)


def test_one_missing_cell_costs_the_level_that_loses_least() -> None:
    cells = spoken(rest=LANGUAGES, grpc=LANGUAGES) - {("grpc", "Rust", "Go")}
    found = largest(cells, levels("rest", "grpc"))
    assert found is not None
    assert len(found[0]) * len(found[1]) * len(found[2]) == 24
    assert set(product(*found)) <= cells


def test_too_large_a_matrix_is_refused() -> None:
    many = tuple(str(number) for number in range(9))
    with pytest.raises(TooManyLevelsError):
        largest(set(product(many, many, many)), (many, many, many))
