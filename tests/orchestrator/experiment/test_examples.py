"""The shipped experiments as `orch examples` and experiments/README.md list them."""

from __future__ import annotations

from orchestrator.experiment.examples import FOLDER, examples, markdown


def test_every_shipped_experiment_is_a_row_and_the_list_in_the_repository_is_current() -> None:
    rows = examples()
    assert {row.name for row in rows} == {path.stem for path in FOLDER.glob("*.yaml")}
    assert (FOLDER / "README.md").read_text() == markdown(rows), "make it again: make schema"
