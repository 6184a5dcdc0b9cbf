"""The measurement of the checks: every check has a graded fault, and docs/checks.md says what was measured."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from benchmarks.checks import __main__ as program
from benchmarks.checks import alarms, power, table
from benchmarks.checks.__main__ import DOCUMENT, STORED
from benchmarks.checks.fault import Fault
from benchmarks.checks.faults import FAULTS
from benchmarks.checks.injections import nothing
from benchmarks.checks.power import Tried
from benchmarks.checks.realistic import SCENARIOS, STREAMS, clean_run, latencies
from orchestrator.analysis.checks import CHECKS
from orchestrator.analysis.checks.base import rank

NAMES = [check.name for check in CHECKS]
CHECK = {check.name: check for check in CHECKS}
RESULTS = {
    "power": [{"check": "floor", "smallest": "a little", "largest_tried": "much", "tried": []}],
    "synthetic": {
        "runs": 200,
        "checks": {
            "floor": {"judged": 150, "failed": 0, "warned": 3},
            "reply": {"judged": 200, "failed": 2, "warned": 1},
        },
    },
}
TABLE = f"""before
{table.BEGIN}
| check | fails when | warns when |
| --- | --- | --- |
| floor | too quick | |
{table.END}
after
"""


def test_every_check_has_a_graded_fault():
    assert set(NAMES) <= {fault.check for fault in FAULTS}, "append a Fault in benchmarks/checks/faults.py"


def test_every_check_has_a_row_in_the_document():
    assert sorted(table.names(DOCUMENT.read_text())) == sorted(NAMES)


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


@pytest.mark.parametrize("scenario", STREAMS)
def test_a_clean_stream_alarms_neither_its_own_check_nor_that_of_its_responder(scenario: str):
    run = clean_run(5, **STREAMS[scenario])
    assert [power.judged(CHECK[name], run) for name in ("event stream", "responder's core")] == ["pass", "pass"]


def test_clean_runs_are_alike_only_when_their_seed_is():
    one, same, other = (clean_run(seed).files for seed in (1, 1, 2))
    first = next(iter(one))
    assert np.array_equal(one[first]["received_ns"], same[first]["received_ns"])
    assert not np.array_equal(one[first]["received_ns"], other[first]["received_ns"])


def test_latencies_are_skewed_and_have_a_tail():
    drawn = latencies(np.random.default_rng(1), 20_000, 300_000.0, 0.0)[100:]
    low, middle, high, rare = np.quantile(drawn, [0.05, 0.5, 0.95, 0.999])
    assert high - middle > middle - low
    assert rare > 2 * middle


def test_a_check_that_finds_every_size_is_said_to_find_the_smallest(monkeypatch):
    assert smallest(monkeypatch, found_from=0.0) == "1"


def test_a_check_that_finds_nothing_is_said_to_find_none(monkeypatch):
    assert smallest(monkeypatch, found_from=9.0) is None


def test_the_smallest_size_is_one_from_which_on_all_are_found(monkeypatch):
    assert smallest(monkeypatch, found_from=3.0) == "3"
    by_chance = [Tried(size=1, found=10, runs=10), Tried(size=2, found=3, runs=10), Tried(size=3, found=9, runs=10)]
    assert power._first_of_those_that_stay(by_chance) == by_chance[-1]


def smallest(monkeypatch, *, found_from: float) -> str | None:
    monkeypatch.setattr(power, "verdict", lambda _c, _f, size, _s: "fail" if size >= found_from else "pass")
    fault = Fault(check="floor", what="{}", sizes=(1, 2, 3, 4), percent=False, inject=nothing)
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


def test_the_two_columns_are_written_and_nothing_else_is_touched():
    text = table.written(TABLE, RESULTS)
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| floor | too quick | | a little | 3 warned of 150, not measured |" in text
    assert table.written(text, RESULTS) == text
    assert table.names(text) == ["floor"]


def test_a_check_that_was_not_measured_is_said_to_be_that():
    text = table.written(TABLE.replace("| floor |", "| reply |"), {**RESULTS, "power": []})
    assert "| not measured | 2 failed and 1 warned of 200, not measured |" in text


def test_a_document_without_the_table_is_refused():
    with pytest.raises(ValueError, match="no table"):
        table.written("no table here", RESULTS)


def test_no_two_entries_say_the_same():
    assert max(Counter((f.check, f.what) for f in FAULTS).values()) == 1


def test_clean_streams_are_judged_by_the_checks_of_streams(monkeypatch):
    monkeypatch.setattr(alarms, "_SCENARIOS", {"stream": {"two clients": STREAMS["two clients"]}})
    found = alarms.synthetic(2, lambda _line: None, "event stream")
    assert found["scenarios"] == ["two clients"]
    assert found["checks"]["event stream"]["judged"] == found["checks"]["order"]["judged"] == 2
    assert found["checks"]["reply"]["judged"] == 0


@pytest.mark.parametrize(
    ("only", "kinds"),
    [(None, ["call", "stream"]), ("event stream", ["stream"]), ("reply", ["call"]), ("order", ["call", "stream"])],
)
def test_runs_are_made_of_the_kinds_of_work_that_a_check_judges(only, kinds):
    assert alarms._kinds(only) == kinds


def test_of_one_check_the_alarms_of_the_others_stay_as_they_are_stored():
    results = {"synthetic": {"runs": 200, "checks": {"floor": {"judged": 200}}}}
    found = {"runs": 7, "scenarios": ["x"], "checks": {"event stream": {"judged": 7}, "floor": {"judged": 0}}}
    program._enter(results, "synthetic", found, "event stream")
    assert results["synthetic"]["runs"] == 200
    assert results["synthetic"]["checks"]["floor"] == {"judged": 200}
    mine = results["synthetic"]["checks"]["event stream"]
    assert (mine["judged"], mine["runs"], mine["scenarios"]) == (7, 7, ["x"])
    assert "load_average" in mine["conditions"]


def test_of_all_checks_the_alarms_are_replaced():
    results = {"synthetic": {"runs": 200, "checks": {"floor": {"judged": 200}}}}
    program._enter(results, "synthetic", {"runs": 7, "checks": {"floor": {"judged": 7}}}, None)
    assert results["synthetic"]["checks"] == {"floor": {"judged": 7}}
