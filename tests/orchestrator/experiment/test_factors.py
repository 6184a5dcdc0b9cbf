"""Factors: declared once, in the ids of their cells alone, and what both ends are sent of them."""

from __future__ import annotations

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.experiment import ExcludeSpec, Experiment, StackSpec
from orchestrator.experiment.model.factors import FACTORS, OF_THE_CALL
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.results.manifest import SAMPLE_COLUMNS
from services.python.contract.knobs import allows
from tests.support.experiments import MINIMAL, Known, Write


def test_a_cell_has_a_value_of_every_factor(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "{echo: {bytes: 1 kB}}") + "load: {rate: 100/s}\nconnection: per-request\n"
    for cell in make_plan(write(text), known=known).cells:
        assert list(cell.factors) == [factor.name for factor in FACTORS]
        assert cell.factors["bytes"] == 1000
        assert cell.factors["payload"] == "echo 1 kB"
        assert (cell.factors["rate"], cell.factors["concurrency"]) == (100.0, 50)
        assert cell.connection == "per-request"


def test_keys_of_an_experiment_file_are_those_of_the_list() -> None:
    call = {factor.name for factor in OF_THE_CALL}
    assert call <= Experiment.model_fields.keys()
    assert call <= StackSpec.model_fields.keys()
    assert ExcludeSpec.model_fields.keys() == {factor.name for factor in FACTORS if factor.is_excludable}


def test_samples_have_the_columns_of_the_list() -> None:
    assert set(factors.COLUMNS) <= set(SAMPLE_COLUMNS)
    assert factors.in_columns({"concurrency": 8})["policy"] == "reuse"


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("each", True), ("1", True), ("64", True), ("65", False), ("0", False), ("x", False), ("-1", False)],
)
def test_an_end_allows_the_texts_and_ranges_of_its_knob(value: str, is_allowed: bool) -> None:
    assert allows(("each", "1..64"), value) is is_allowed
