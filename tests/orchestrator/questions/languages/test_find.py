"""Whether a language matters more than the protocol: on runs whose medians are known."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import product

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.languages.estimates import Estimate
from orchestrator.questions.languages.find import QUESTION, complete_part, matrices, standings
from orchestrator.summarise import summarise
from tests.support.matrices import LANGUAGES, Key, a_matrix_plan, a_matrix_run

TIMES = {"Go": 1.0, "Node.js": 2.0, "Python": 4.0, "Rust": 0.8}
LOAD = p.Load(concurrency=1, requests=100)
TWO = ("Go", "Python")


def languages_most(key: Key) -> float:
    return TIMES[key[1]] * float(TIMES[key[2]] ** 0.5) * (1.2 if key[0] == "grpc" else 1.0)


def measured(
    times: Callable[[Key], float] = languages_most,
    *,
    missing: Collection[Key] = (),
    spoken: Collection[str] = TWO,
    blocks: int = 3,
) -> RunSummary:
    plan = a_matrix_plan(missing=missing, spoken=tuple(spoken), blocks=blocks, load=LOAD, warmup=10)
    return summarise(a_matrix_run(plan, times))


WHOLE = a_matrix_plan(blocks=4, load=LOAD, warmup=10)


@pytest.fixture(scope="module")
def whole() -> RunSummary:
    return summarise(a_matrix_run(WHOLE, languages_most))


@pytest.fixture(scope="module")
def with_gaps() -> RunSummary:
    """Rust has no gRPC."""
    spoken = (*LANGUAGES, "Rust")
    missing = {("grpc", one, other) for one in spoken for other in spoken if "Rust" in (one, other)}
    return measured(missing=missing, spoken=spoken)


def test_changes_are_as_far_as_the_medians_were_made(whole: RunSummary) -> None:
    (matrix,) = QUESTION.of(whole)
    changes = {change.factor: change for change in matrix.changes}
    assert {name: change.beyond for name, change in changes.items()} == {
        "protocol": None,
        "responder": "more",
        "requester": "more",
    }
    assert 1.15 < changes["protocol"].times < 1.25
    assert 2.4 < changes["responder"].times < 2.9  # of 1, 2 and 4: e to the root of the mean squared logs
    assert matrix.blocks == 4


def test_where_nothing_matters_it_cannot_be_measured() -> None:
    assert QUESTION.of(measured(lambda _: 1.0)) == ()


def test_of_a_matrix_with_gaps_a_complete_part_is_decomposed(with_gaps: RunSummary) -> None:
    (matrix,) = QUESTION.of(with_gaps)
    assert matrix.cells == 18
    assert {name: set(levels) for name, levels in matrix.factors.items()} == {
        "protocol": {"rest", "grpc"},
        "responder": set(LANGUAGES),
        "requester": set(LANGUAGES),
    }
    assert len(matrix.left_out) == 7
    assert all("Rust" in label for label in matrix.left_out)


def test_an_invalid_cell_is_left_out_with_its_language(whole: RunSummary) -> None:
    (matrix,) = matrices(WHOLE, whole.cells, {whole.cells[0].id})
    assert matrix.cells == 12
    assert whole.cells[0].labels.stack in matrix.left_out


@pytest.mark.parametrize(
    ("missing", "sizes"),
    [((), (2, 3, 3)), ([("grpc", "Go", "Go")], (2, 3, 2)), ([("grpc", one, "Go") for one in LANGUAGES], (2, 3, 2))],
)
def test_the_level_with_most_gaps_is_left_out(missing: Collection[Key], sizes: tuple[int, ...]) -> None:
    keys = [key for key in product(("rest", "grpc"), LANGUAGES, LANGUAGES) if key not in missing]
    assert tuple(map(len, complete_part(keys))) == sizes


def test_of_one_protocol_the_languages_alone_are_compared() -> None:
    missing = {("grpc", one, other) for one in TWO for other in TWO}
    (matrix,) = QUESTION.of(measured(missing=missing))
    assert list(matrix.factors) == ["responder", "requester"]
    assert [change.beyond for change in matrix.changes] == [None, None]


def test_claims_are_corrected_over_the_run() -> None:
    """One that is just sure by itself is not among many; the sure ones stay."""

    def estimate(value: float, se: float) -> Estimate:
        return Estimate(value=value, without=np.array([-1.0, 1.0, -1.0, 1.0, 0.0]) * se * np.sqrt(5) / 4)

    just, sure = estimate(1.0, 0.35), estimate(-1.0, 0.01)  # p 0.046 of the first
    assert standings({(0, "responder"): just}) == {(0, "responder"): "more"}
    of_many = standings({(place, "responder"): just for place in range(4)} | {(4, "requester"): sure})
    assert set(of_many.values()) == {"not resolved", "less"}
