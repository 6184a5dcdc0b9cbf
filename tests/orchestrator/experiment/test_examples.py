"""The shipped experiments as `orch examples` and experiments/README.md list them."""

from __future__ import annotations

from orchestrator.experiment.examples import FOLDER, Example, examples, markdown


def test_every_shipped_experiment_is_a_row_and_the_list_in_the_repository_is_current() -> None:
    rows = examples()
    assert {row.name for row in rows} == {path.stem for path in FOLDER.glob("*.yaml")}
    assert (FOLDER / "README.md").read_text() == markdown(rows), "make it again: make schema"


def test_a_row_names_what_an_experiment_needs() -> None:
    rows = {row.name: row for row in examples()}
    assert rows["quickstart"].needs == ()
    assert rows["cross_region"].needs == ("lab",)
    assert rows["database_go"].needs == ("PostgreSQL", "Go")
    assert rows["keep_alive_node"].needs == ("Node.js",)
    assert [bool(row.needs) for row in rows.values()] == sorted(bool(row.needs) for row in rows.values())


def test_a_question_with_a_bar_stays_in_its_cell() -> None:
    row = Example(name="x", question="A | B?", minutes=1, needs=())
    assert r"| A \| B? | [x](x.yaml) | 1 |  |" in markdown((row,))
