"""The measurement of the checks: every check has a graded fault, and docs/reference/checks.md says what was measured."""

from __future__ import annotations

import json

import pytest

from benchmarks.checks import alarms, power, table
from benchmarks.checks.__main__ import DOCUMENT, STORED
from benchmarks.checks.fault import Fault
from benchmarks.checks.faults import FAULTS
from benchmarks.checks.injections import carry_less
from benchmarks.checks.power import Tried
from benchmarks.checks.realistic import SCENARIOS, STREAMS, clean_run
from orchestrator.checks import CHECKS
from orchestrator.checks.base import rank

NAMES = [check.name for check in CHECKS]
CHECK = {check.name: check for check in CHECKS}


def test_every_check_has_a_graded_fault():
    assert set(NAMES) <= {fault.check for fault in FAULTS}, "append a Fault in benchmarks/checks/faults.py"


def test_the_document_says_what_is_stored():
    assert table.written(DOCUMENT.read_text(), json.loads(STORED.read_text())) == DOCUMENT.read_text(), (
        "run `python -m benchmarks.checks --write`"
    )


@pytest.mark.parametrize("fault", power.existing(FAULTS), ids=lambda fault: fault.told(fault.sizes[-1]))
def test_the_largest_error_is_found_unless_the_document_says_that_it_is_not(fault: Fault):
    assert list(fault.sizes) == sorted(set(fault.sizes))
    stored = [entry["smallest"] for entry in json.loads(STORED.read_text())["power"] if entry["what"] == fault.what]
    is_found = rank(power.verdict(CHECK[fault.check], fault, fault.sizes[-1], 3)) >= rank(fault.found)
    assert is_found == (stored != [None])


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [*SCENARIOS, *STREAMS])
def test_a_clean_run_of_every_scenario_fails_no_check(scenario: str):
    run, kind = clean_run(5, **{**SCENARIOS, **STREAMS}[scenario]), "stream" if scenario in STREAMS else "call"
    asked = [name for name in NAMES if kind in CHECK[name].kinds]
    assert ("event stream" in asked) == (kind == "stream")
    failed = [name for name in asked if power.judged(CHECK[name], run) == "fail"]
    assert failed == []


def test_the_smallest_size_is_one_from_which_on_all_are_found(monkeypatch):
    assert smallest(monkeypatch, found_from=3.0) == "3"
    by_chance = [Tried(size=1, found=10, runs=10), Tried(size=2, found=3, runs=10), Tried(size=3, found=9, runs=10)]
    assert power._first_of_those_that_stay(by_chance) == by_chance[-1]


def smallest(monkeypatch, *, found_from: float) -> str | None:
    monkeypatch.setattr(power, "verdict", lambda _c, _f, size, _s: "fail" if size >= found_from else "pass")
    fault = Fault(check="floor", what="{}", sizes=(1, 2, 3, 4), percent=False, inject=carry_less)
    return power.measure(fault, runs=10).smallest


def test_a_run_counts_once_for_each_check_by_its_gravest_verdict():
    counts = alarms._none()
    alarms._count(counts, [result("warn"), result("fail"), result("warn"), result("pass", "reply")], "first")
    alarms._count(counts, [result("warn"), result("cannot tell")], "second")
    assert counts["floor"] == {"judged": 2, "warned": 1, "failed": 1, "for_example": "first: a fail."}
    assert counts["reply"] == {"judged": 1, "warned": 0, "failed": 0, "for_example": None}


@pytest.mark.parametrize("silent", ["cannot tell", "not applicable"])
def test_a_run_in_which_a_check_judged_nothing_is_no_proof_of_its_silence(silent: str):
    counts = alarms._none()
    alarms._count(counts, [result(silent), result("pass", "control", cell=None)], "a run")
    assert counts["floor"]["judged"] == counts["control"]["judged"] == 0


def result(verdict: str, name: str = "floor", cell: str | None = "a cell") -> dict[str, object]:
    return {"name": name, "verdict": verdict, "cell": cell, "evidence": {}, "explanation": f"a {verdict}."}


def test_clean_streams_are_judged_by_the_checks_of_streams(monkeypatch):
    monkeypatch.setattr(alarms, "_SCENARIOS", {"stream": {"two clients": STREAMS["two clients"]}})
    found = alarms.synthetic(2, lambda _line: None, "event stream")
    assert found["scenarios"] == ["two clients"]
    assert found["checks"]["event stream"]["judged"] == 2
    assert found["checks"]["reply"]["judged"] == 0
