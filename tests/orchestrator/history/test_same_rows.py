"""`orch runs` and `orch runs trend` give the same rows from SQLite here and from a team's PostgreSQL."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import listing, trends
from orchestrator.errors import UsageError
from tests.support.past import a_past_run, slower
from tests.support.team_index import a_server, empty, push

RESULTS = Path("results")
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with a_server() as address:
        yield address


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five runs, one of them slower, one unjudged, with names that a query may trip over."""
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(console, "out", io.StringIO())
        for day, by in ((20, 1.0), (21, 1.0), (22, 1.0), (23, 1.6)):
            a_past_run(
                RESULTS / f"r{day}", started=f"2026-11-{day}T00:00:00+00:00", change=slower(by, noise=day / 9000)
            )
        a_past_run(RESULTS / "Ärger", experiment="100%_Ä'; DROP TABLE runs; --", judged=False)
    return root


@pytest.fixture(params=["here", "team"])
def ask(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Calls a verb with --json and gives its document."""
    monkeypatch.chdir(root)
    options: dict[str, Any] = {}
    if request.param == "team":
        dsn = request.getfixturevalue("dsn")
        url = empty(dsn, "same")
        push(url, RESULTS)
        monkeypatch.setenv("ORCH_INDEX", url.render_as_string(hide_password=False))
        options = {"team": True}

    def document_of(verb: Any, *words: Any, **knobs: Any) -> Any:
        console.out = io.StringIO()
        try:
            verb(*words, **{**options, **knobs}, as_json=True)
        finally:
            console.as_json = False
        return json.loads(console.out.getvalue())

    return document_of


def ids(ask: Ask, **knobs: Any) -> list[str]:
    return [run["id"] for run in ask(listing.list_runs, **{"limit": 30, **knobs})["runs"]]


def test_the_newest_stands_first_and_a_limit_tells_how_many_there_are(ask: Ask) -> None:
    assert ids(ask) == ["r23", "r22", "Ärger", "r21", "r20"]
    assert ask(listing.list_runs, limit=2)["of"] == 5


@pytest.mark.parametrize(
    ("wanted", "runs"),
    [
        ({"find": "SYNTHETIC"}, ["r23", "r22", "Ärger", "r21", "r20"]),
        ({"find": "100%_Ä'; drop table runs; --"}, ["Ärger"]),
        ({"find": "100%_ä'; DROP TABLE runs; --"}, []),
        ({"find": "grpc local"}, ["r23", "r22", "r21", "r20"]),
        ({"find": "grpc 2026-11-22"}, ["r22"]),
        ({"find": "3000 synthetic", "limit": 1}, ["r23"]),
        ({"find": "_"}, ["Ärger"]),
        ({"find": "not judged"}, ["Ärger"]),
        ({"find": "' OR 1=1 --"}, []),
    ],
)
def test_filters_choose_alike(ask: Ask, wanted: dict[str, Any], runs: list[str]) -> None:
    assert ids(ask, **wanted) == runs


def test_cells_that_runs_measured_are_listed_alike(ask: Ask) -> None:
    cells = ask(trends.trend, None)["cells"]
    assert {cell["stack"] for cell in cells} == {"rest-thin", "grpc-thin"}
    assert {cell["runs"] for cell in cells} == {4}


def test_a_trend_is_the_same(ask: Ask) -> None:
    for word in ("grpc-thin", "grpc (thin)", ask(trends.trend, ["grpc-thin"])["trends"][0]["cell"].upper()):
        (trend,) = ask(trends.trend, [word])["trends"]
        assert [point["run"] for point in trend["points"]] == ["r20", "r21", "r22", "r23"]
        changes = [point["change"] for point in trend["points"]]
        assert changes == [None, *(pytest.approx(ratio, abs=0.01) for ratio in (1.0, 1.0, 1.6))]
    (p99,) = ask(trends.trend, ["grpc-thin"], statistic="p99", find="r21")["trends"]
    assert len(p99["points"]) == 1
    with pytest.raises(UsageError, match="no run measured 'soap'"):
        ask(trends.trend, ["soap"])
