"""`orch predict`: what it prints for a reader's own place, and what it refuses."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.results import predict
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.findings.summary import RunSummary
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from tests.support.concluded import check
from tests.support.modelled_runs import a_map, a_mapped_run, distances
from tests.support.runs import MemoryRun, write_run

MAP = Path(__file__).parents[3] / "experiments" / "decision_map.yaml"
AT = {"rtt": "60ms", "size": "20kB"}


@cache
def the_run() -> MemoryRun:
    """A run of the shipped map."""
    overrides = ("load.requests=30", "distance.rate=1 Gbit/s")
    return a_mapped_run(make_plan(MAP, overrides))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the run `mapped`."""
    made = tmp_path_factory.mktemp("predict")
    write_run(the_run(), made / "results" / "mapped")
    return made


@pytest.fixture(scope="module")
def summary(folder: Path) -> RunSummary:
    """What analysis finds in it, once for all tests."""
    return summarise(RunFolder.open("mapped", root=folder / "results"), is_modelled=True)


@pytest.fixture
def once(summary: RunSummary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is judged once, and not for each call."""
    monkeypatch.setattr(predict, "judged", lambda *_, **__: summary)


@pytest.fixture(autouse=True)
def out(out: io.StringIO, folder: Path, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard output of calls in that folder."""
    monkeypatch.chdir(folder)
    return out


def refused(**options: Any) -> UsageError:
    with pytest.raises(UsageError) as error:
        predict.predict("mapped", **{**AT, **options})
    return error.value


def test_a_place_that_was_not_measured_has_latencies_causes_and_a_winner(out: io.StringIO) -> None:
    predict.predict("mapped", **AT)
    text = out.getvalue()
    assert "a round trip of 60 ms, 20.00 kB, 1000 Mbit/s, 1 in flight" in text
    assert "connections kept open: It does not matter: all lie within 10 % of grpc." in text
    assert "a new connection for each request: rest is faster than grpc by 59.9 ms, 50 %." in text
    assert "stack  latency  90 % interval" in text
    assert "8 held-out cells: the model was off by" in text
    assert "Measured on lab; it holds for no other machine, window or congestion control." in text


@pytest.mark.usefixtures("once")
def test_what_matters_is_the_readers(out: io.StringIO) -> None:
    predict.predict("mapped", **AT, connection="reuse", matters="0.1%")
    assert "does not matter" not in out.getvalue()
    assert "a new connection" not in out.getvalue()


@pytest.mark.usefixtures("once")
def test_json_is_one_document_with_causes_that_add_up(out: io.StringIO) -> None:
    predict.predict("mapped", **AT, rate="500Mbit/s", as_json=True)
    document = json.loads(out.getvalue())
    assert document["place"]["rate_mbit"] == 500.0
    assert document["trust"].startswith("8 held-out cells")
    for setting in document["settings"]:
        for row in setting["rows"]:
            assert sum(row["causes"].values()) == pytest.approx(row["latency"])
            assert row["interval"][0] <= row["latency"] <= row["interval"][1]


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rtt": "200ms"}, "a round trip of 200 ms is more than twice the largest that was measured"),
        ({"rtt": "0.2ms"}, "a round trip of 200 µs is less than half of the smallest that was measured"),
        ({"size": "10MB"}, "is more than twice the largest that was measured"),
        ({"rate": "100Mbit/s"}, "a link of 100 Mbit/s is less than half of the smallest that was measured"),
    ],
)
def test_what_was_not_measured_is_refused_with_the_reason(options: dict[str, Any], why: str) -> None:
    error = refused(**options)
    assert why in error.message
    assert error.exit_code == 2


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rtt": None}, "give your round trip and your payload"),
        ({"size": None}, "give your round trip and your payload"),
        ({"rtt": "60"}, "--rtt: '60' is not a duration"),
        ({"size": "-1 kB"}, "--bytes: '-1 kB' is negative"),
        ({"rate": "fast"}, "--rate: 'fast' is not a link rate"),
        ({"matters": "500%"}, "--matters: '500%' is not a margin"),
    ],
)
def test_words_that_say_nothing_are_refused(options: dict[str, Any], why: str) -> None:
    assert why in refused(**options).message


def test_a_run_that_has_no_model_says_why() -> None:
    write_run(a_mapped_run(a_map(placements=distances(loss=0.01), blocks=3, stacks=("rest",))), Path("results/lossy"))
    with pytest.raises(InvalidMeasurement, match="loss is outside of the model"):
        predict.predict("lossy", **AT)


def test_a_run_without_sealed_cells_predicts_and_says_that_nobody_tested_it(out: io.StringIO) -> None:
    write_run(a_mapped_run(a_map(hold_out=0.0, blocks=3, stacks=("rest",))), Path("results/untested"))
    predict.predict("untested", **AT)
    assert "No cell was held out, so the error is not known" in " ".join(out.getvalue().split())


def test_what_kept_the_run_from_answering_stands_above_its_predictions(
    summary: RunSummary, out: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    invalid = replace(summary, checks=(check("reply", None),))
    why = answer(invalid).invalid_because
    monkeypatch.setattr(predict, "judged", lambda *_, **__: invalid)
    predict.predict("mapped", **AT)
    assert f"It rests on measurements to doubt: {why}." in " ".join(out.getvalue().split())
