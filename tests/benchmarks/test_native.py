"""What the benchmark of native requesters rests on: figures read right, turns taken by all, and verdicts that can fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import native, recording
from benchmarks.harness import generators, programs
from orchestrator.catalogue.read import protocols
from orchestrator.hosts import load_generators
from orchestrator.referee.asked import Asked
from orchestrator.referee.tools import TOOLS, Found
from services.python.load.phases import MEASURED, WARM_UP
from services.python.load.record import Record

PROGRAM = """#!/bin/sh
case "$1" in --version) echo 'oha 1.16.0'; exit;; esac
sleep 1
echo '{"summary": {"total": 1.0}, "latencyPercentiles": {"p50": 0.0001, "p99": 0.0004},
"statusCodeDistribution": {"200": %d, "500": %d}, "errorDistribution": {}, "responseTimeHistogram": {"0.0001": 1000}}'
"""


def contender(tmp_path: Path, right: int, wrong: int) -> generators.Contender:
    program = tmp_path / "oha"
    program.write_text((PROGRAM % (right, wrong)).replace(', "500": 0', ""))
    program.chmod(0o755)
    found = load_generators.look(TOOLS["oha"], tmp_path)
    asked = Asked(path="/echo", bodies=(b"body",))
    return generators.Contender(found=found, asked=asked, port=1, in_flight=1, window_s=1, folder=tmp_path)


def test_figures_of_the_others_are_in_our_units(tmp_path: Path) -> None:
    found = contender(tmp_path, 1000, 0).take_turn()
    assert (found["requests"], found["window_s"], found["p50_ms"], found["p99_ms"]) == (1000, 1.0, 0.1, 0.4)


def test_a_turn_with_a_wrong_reply_is_none(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"oha: requests failed: .*500"):
        contender(tmp_path, 999, 1).take_turn()


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
    monkeypatch.setattr(generators, "find", lambda name: Found(tool=TOOLS[name], why="there is none"))
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
