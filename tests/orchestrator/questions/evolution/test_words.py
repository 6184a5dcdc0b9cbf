"""What came of changed schemas: counted, shown everywhere, and a reader that fails is compared with nothing."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.cli.answer import answer_lines
from orchestrator.findings.blocks import why_no_value
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.evolution.words import evolutions, said, sentence
from orchestrator.report.render import render
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summary_of_json
from tests.support.summaries import a_run

OUTCOMES = {
    ("grpc", "none"): {"right value": 9},
    ("grpc", "retyped"): {"fails: SchemaResolutionError: Schema mismatch <long> & string": 9},
    ("rest", "none"): {"right value": 9},
    ("rest", "retyped"): {"lost silently": 9},
}


def an_evolution() -> RunSummary:
    run = a_run(stacks=2)
    cells = [
        replace(
            cell.having(schema_change=change),
            id=f"{cell.stack}-{change}",
            operation=f"evolution 3 records, schema change: {change}",
            operation_id=f"evolution-3-records-{change}",
            kind="codec",
            outcomes=OUTCOMES["grpc" if number == 0 else "rest", change],
        )
        for change in ("none", "retyped")
        for number, cell in enumerate(run.cells)
    ]
    return replace(run, cells=tuple(cells), comparisons=(), checks=())


def test_a_row_for_each_stack_and_a_column_for_each_change() -> None:
    run = an_evolution()
    [table] = evolutions(run.cells)
    assert table.operation == "evolution 3 records"
    assert table.changes == ("none", "retyped")
    assert [outcomes for _, outcomes in table.rows] == [("right value", "fails"), ("right value", "lost silently")]
    [note] = table.notes
    assert note.endswith("a field retyped: SchemaResolutionError: Schema mismatch <long> & string")
    assert evolutions(a_run().cells) == ()


def test_a_reader_that_fails_is_compared_with_nothing_and_one_that_loses_is() -> None:
    cells = {cell.id: cell for cell in an_evolution().cells}
    failing = next(cell for cell in cells.values() if cell.why_undecodable)
    reasons = {cell.id: why_no_value(cell, "median") for cell in cells.values()}
    assert {cell: reason.kind for cell, reason in reasons.items() if reason} == {failing.id: ReasonKind.UNDECODABLE}


def test_several_outcomes_are_said_with_their_counts() -> None:
    cell = replace(an_evolution().cells[0], outcomes={"right value": 1000, "lost silently": 2})
    assert said(cell) == "right value (1,000 times); lost silently (2 times)"
    assert said(replace(cell, outcomes={})) == ""


def test_a_sentence_says_who_fails_and_who_loses_what() -> None:
    run = an_evolution()
    lost, failing = (
        next(c.stack_label for c in run.cells if c.outcomes == OUTCOMES[who, "retyped"]) for who in ("rest", "grpc")
    )
    said_so = f"Lost silently: {lost} with a field retyped; fails: {failing} with a field retyped."
    assert sentence(run.cells) == said_so
    assert sentence(run.cells[:2]) == ""
    right = [replace(cell, outcomes={"right value": 9}) for cell in run.cells]
    assert sentence(right) == "No reader failed, or lost the field that changed."


def test_terminal_json_and_report_show_it() -> None:
    run = an_evolution()
    found = run
    lines = "\n".join(answer_lines(found))
    assert "what came of the field that changed · evolution 3 records" in lines
    assert "lost silently" in lines
    assert "a field retyped: SchemaResolutionError" in lines
    page = render(run)
    assert 'id="changed-schemas"' in page
    assert "Schema mismatch &lt;long&gt; &amp; string" in page
    assert 'id="changed-schemas"' not in render(a_run())
    assert summary_of_json(run.to_json()).cells[3].outcomes == {"lost silently": 9}
