"""What the benchmark of native requesters rests on: figures read right, turns taken by all, and verdicts that can fail."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import native, recording
from benchmarks.harness import generators, programs
from orchestrator.catalogue.read import protocols
from services.python.load.phases import MEASURED, WARM_UP
from services.python.load.record import Record


def oha(**changes: Any) -> str:
    told = {
        "summary": {"total": 2.0},
        "latencyPercentiles": {"p50": 0.0001, "p99": 0.0004},
        "statusCodeDistribution": {"200": 1000},
        "errorDistribution": {},
    }
    return json.dumps({**told, **changes})


def ghz(**changes: Any) -> str:
    told = {
        "count": 100,
        "total": 500_000_000,
        "statusCodeDistribution": {"OK": 100},
        "errorDistribution": {},
        "details": [{"latency": 1000 * number} for number in range(1, 101)],
    }
    return json.dumps({**told, **changes})


def test_figures_of_the_others_are_read_in_one_unit() -> None:
    assert generators.read_oha(oha()) == {"requests": 1000, "window_s": 2.0, "p50_ms": 0.1, "p99_ms": 0.4}
    found = generators.read_ghz(ghz())
    assert (found["requests"], found["window_s"], found["p99_ms"]) == (100, 0.5, 0.099)
    assert found["p50_ms"] == pytest.approx(0.0505)


@pytest.mark.parametrize(
    "changes",
    [
        {"statusCodeDistribution": {"200": 999, "500": 1}},
        {"errorDistribution": {"connection refused": 1}},
        {"statusCodeDistribution": {}},
    ],
)
def test_a_turn_of_oha_with_a_wrong_reply_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(SystemExit):
        generators.read_oha(oha(**changes))


@pytest.mark.parametrize(
    "changes",
    [{"statusCodeDistribution": {"OK": 99, "Unavailable": 1}}, {"details": []}, {"errorDistribution": {"refused": 1}}],
)
def test_a_turn_of_ghz_with_a_wrong_reply_or_without_latencies_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(SystemExit):
        generators.read_ghz(ghz(**changes))


def test_a_program_is_found_on_the_path_and_then_where_it_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    monkeypatch.setattr(generators, "OWN", tmp_path)
    assert generators.find("oha") is None
    (tmp_path / "oha").write_text("#!/bin/sh\n")
    (tmp_path / "oha").chmod(0o755)
    assert generators.find("oha") == str(tmp_path / "oha")


def record_of(path: Path, rows: int) -> Any:
    with Record(path, rows + 2) as record:
        for number in range(rows + 2):
            phase = MEASURED if number > 1 else WARM_UP
            record.append(
                number + 1, phase, 0, number * 10_000, number * 10_000, number * 10_000 + 1000 * number, -1, 1, 1, 0
            )
    return native.trial("rest", "any", 1, 1, 1, path)


def test_figures_of_ours_are_those_of_every_measured_row(tmp_path: Path) -> None:
    done = {"errors": {}, "verified": 100, "requests": 100, "measured_s": 0.5, "cpu_s": 0.1}
    found = programs.figures(record_of(tmp_path / "record", 100), done)
    assert (found["requests"], found["p50_ms"], found["p99_ms"]) == (100, 0.051, 0.1)


@pytest.mark.parametrize("changes", [{"verified": 99}, {"errors": {"timeout": 1}}, {"requests": 101, "verified": 101}])
def test_a_trial_with_a_request_that_is_unverified_or_has_no_row_is_none(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    done = {"errors": {}, "verified": 100, "requests": 100, "measured_s": 0.5, "cpu_s": 0.1, **changes}
    with pytest.raises(SystemExit, match="not every reply was right"):
        programs.figures(record_of(tmp_path / "record", 100), done)


def turns(**p50_ms: float) -> native.Contest:
    taken: Counter[str] = Counter()

    def turn(name: str, value: float) -> native.Turn:
        def take() -> dict[str, Any]:
            taken[name] += 1
            return {"requests": 1000 / value, "window_s": 1.0, "p50_ms": value, "p99_ms": 2 * value, "cpu_s": 0.5}

        return take

    made = {name: turn(name, value) for name, value in p50_ms.items()}
    return native.Contest(
        protocol="rest",
        responder=protocols()["rest"].responder(),
        natives={"ours": made.pop("ours")},
        others=made,
    )


def test_everyone_takes_a_turn_in_every_round_and_ratios_are_of_pairs() -> None:
    of = turns(ours=0.2, wrk=0.1, oha=0.4)
    rounds = native.rounds_of(of, 5, seed=1)
    assert [sorted(found) for found in rounds] == [["oha", "ours", "wrk"]] * 5
    assert len({tuple(found) for found in rounds}) > 1  # the order changes
    assert native.ratios(rounds, "ours", ["wrk", "oha"], of_rates=False) == {
        "wrk": pytest.approx((2.0, 2.0, 2.0)),
        "oha": pytest.approx((0.5, 0.5, 0.5)),
    }
    assert native.ratios(rounds, "ours", ["wrk", "oha"], of_rates=True)["the best"] == pytest.approx((0.5, 0.5, 0.5))
    (told,) = (line for line in native.lines(of, rounds, of_rates=False) if "ours" in line)
    assert "/ wrk: 2.000 (2.000-2.000) MISSED" in told
    assert "/ oha: 0.500 (0.500-0.500) ok" in told


@pytest.mark.parametrize(
    ("found", "of_rates", "word"),
    [
        ((1.0, 0.9, 1.1), False, "ok"),
        ((1.05, 0.99, 1.1), False, "unclear"),
        ((1.05, 1.01, 1.1), False, "MISSED"),
        ((0.9, 0.8, 1.0), True, "ok"),
        ((0.89, 0.8, 0.9), True, "unclear"),
        ((0.8, 0.7, 0.89), True, "MISSED"),
    ],
)
def test_a_goal_is_missed_where_the_whole_interval_misses_it(
    found: tuple[float, float, float], of_rates: bool, word: str
) -> None:
    assert native.verdict(found, of_rates=of_rates) == word


def test_nobody_to_compare_with_is_no_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "find", lambda _: None)
    rest = protocols()["rest"]
    on: Any = SimpleNamespace()
    with pytest.raises(SystemExit, match="make referee"):
        native.contest(on, rest, rest.responder(), 1, 1, 1, tmp_path)


def test_nine_in_ten_starts_are_no_later() -> None:
    assert native.percentile([float(number) for number in range(20, 0, -1)], 0.9) == 18.0


def test_every_part_can_be_chosen_and_every_goal_is_of_a_language_here() -> None:
    from orchestrator.catalogue.read import catalogue

    assert set(native.PARTS) == {"latency", "throughput", "recording", "startup"}
    assert set(native.MOST_START_MS) | set(recording.PROGRAMS) <= set(catalogue().languages)
