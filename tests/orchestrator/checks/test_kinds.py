"""A check judges the kinds of work that it is made for, and of others says that it does not."""

from dataclasses import replace

from orchestrator.checks import run_checks
from orchestrator.checks.base import Check, Finding
from orchestrator.evidence.collect import collect
from tests.support.runs import a_run


def _evidence(kind):
    found = collect(a_run(), {})
    return replace(found, cells=tuple(replace(cell, cell=replace(cell.cell, kind=kind)) for cell in found.cells))


def test_a_check_is_given_no_cell_of_another_kind_and_has_not_passed(monkeypatch):
    given = []

    def judge(cell):
        given.append(cell)
        return Finding(verdict="pass", explanation="")

    picky = Check(name="picky", severity="note", kinds=frozenset({"call", "task"}), judge=judge, judge_run=judge)
    monkeypatch.setattr("orchestrator.checks.CHECKS", (picky,))
    evidence = _evidence("codec")
    results = run_checks(evidence)
    assert not given
    assert {result.cell for result in results} == {cell.cell.id for cell in evidence.cells}
    assert {result.verdict for result in results} == {"not applicable"}
    assert results[0].explanation == "This check applies to calls and tasks; this cell measures a codec alone."
