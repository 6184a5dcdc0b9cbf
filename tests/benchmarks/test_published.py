"""The page of published tables follows from the committed summaries, and from nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.published import page as pages
from benchmarks.published.held import Figures, hold
from benchmarks.published.kept import Cell, Kept, Trial, cut, read
from benchmarks.published.specs import FIGURES, KEPT, ROOT, SENTENCES, SPECS, TABLES, Alike, Fewer, Ours, Table
from orchestrator.audit.claim_forms import (
    Compared,
    Connections,
    DeliversAll,
    Extreme,
    Figure,
    LargerEffect,
    Size,
    Times,
)
from orchestrator.audit.model import read as read_audit
from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.summarise import summarise
from tests.support.findings import measured
from tests.support.runs import a_run

THERE = [spec for spec in SPECS if spec.path.is_file()]


@pytest.fixture(scope="module")
def planned() -> dict[str, Plan]:
    return {spec.name: make_plan(spec.path, list(spec.overrides)) for spec in THERE}


# ---- the tables


def test_the_tables_are_what_the_committed_summaries_give() -> None:
    """`python -m benchmarks.published page` writes it anew."""
    assert SENTENCES.read_text(encoding="utf-8") == pages.sentences(pages.kept())
    assert FIGURES.read_text(encoding="utf-8") == pages.figures(pages.kept())


def test_every_row_that_was_published_has_ours_or_a_reason() -> None:
    for table in TABLES:
        file = read_audit(ROOT / table.audit)
        assert {row.name for row in file.results} <= table.rows.keys(), table.slug
        assert all(
            row.run in {spec.name for spec in SPECS} if isinstance(row, Ours) else row for row in table.rows.values()
        )
        columns = {*table.columns}
        stated = {
            name for row in file.results for name, value in row.model_dump().items() if isinstance(value, int | float)
        }
        assert stated - columns <= {"batch", "request_bytes", "concurrency"}, table.slug


def test_every_publication_that_is_audited_has_its_table() -> None:
    shipped = {path.name for path in (ROOT / "experiments" / "audits").glob("*.yaml")}
    assert {Path(table.audit).name for table in TABLES} == shipped


def test_each_row_of_ours_is_a_cell_that_its_run_plans(planned: dict[str, Plan]) -> None:
    for table in TABLES:
        for name, row in table.rows.items():
            if isinstance(row, Ours) and row.run in planned:
                cells = planned[row.run].cells
                found = [c for c in cells if all(c.factors.get(key) == value for key, value in row.asked.items())]
                assert len(found) == 1, (table.slug, name, [c.factors for c in cells][:2])


# ---- a summary that is kept


@pytest.fixture(scope="module")
def one() -> Kept:
    summary = summarise(a_run(blocks=4))
    return cut(summary, name="x", command="c", experiment="e", overrides=("a=1",), orch="abc", machine="m")


def test_it_holds_the_figures_of_the_summary_and_each_block(one: Kept) -> None:
    summary = summarise(a_run(blocks=4))
    for cell, of in zip(one.cells, summary.cells, strict=True):
        assert of.distribution is not None
        assert (cell.samples, cell.median, cell.p99, cell.max) == (
            of.distribution.n,
            of.distribution.median,
            of.distribution.p99,
            of.distribution.maximum,
        )
        assert [trial.median for trial in cell.trials] == [trial.median for trial in of.trials]
    assert one.pings == {"local": pytest.approx(summary.floors[0].distribution.mean)}  # type: ignore[union-attr]


def test_a_run_that_was_cut_short_is_not_kept() -> None:
    summary = measured(summarise(a_run(blocks=3)), state="interrupted")
    with pytest.raises(InvalidMeasurement, match="interrupted"):
        cut(summary, name="x", command="c", experiment="e", overrides=(), orch="abc", machine="m")


# ---- sentences


def a_cell(name: str, means: list[float], *, rates: list[float] | None = None, **changed: Any) -> Cell:
    trials = tuple(
        Trial(block=n, mean=mean, median=mean, p99=2 * mean, throughput_per_s=(rates or [1000 / mean] * len(means))[n])
        for n, mean in enumerate(means)
    )
    of = {"min": 0.1, "mean": means[0], "median": means[0], "sd": 0.1, "p95": 1.0, "p99": 2.0, "max": 3.0}
    given = {
        "id": name,
        "factors": {"stack": name, "placement": "local"},
        "load": "",
        "samples": 100,
        "errors": 0,
        "median_interval": None,
        "throughput_per_s": trials[0].throughput_per_s,
        "trials": trials,
        **of,
        **changed,
    }
    return Cell(**given)


def figures(*cells: Cell, ping: float = 0.5) -> Figures:
    kept = Kept(
        format=1,
        name="r",
        command="",
        experiment="",
        overrides=(),
        orch="",
        run_id="",
        started_at="2026-01-01T00:00:00Z",
        ended_at="2026-01-01T00:06:00Z",
        machine="",
        facts={},
        versions={},
        checks="",
        warnings=(),
        pings={"local": ping},
        cells=cells,
    )
    rows: dict[str, Ours | str] = {cell.id: Ours(run="r", asked={"stack": cell.id}) for cell in cells}
    rows |= {"far": Ours(run="never", asked={}), "go": "nobody wrote it"}
    return Figures(table=Table(slug="t", audit="", columns=(), rows=rows, differs=()), kept={"r": kept})


SLOW, QUICK = [1.00, 1.02, 0.98, 1.01], [0.60, 0.61, 0.59, 0.605]
NEAR, WILD = [0.99, 1.01, 0.985, 1.005], [0.5, 2.0, 0.7, 1.6]
CASES = [
    (Compared(kind="faster", pairs=(("quick", "slow"),)), "agrees"),
    (Compared(kind="faster", pairs=(("slow", "quick"),)), "does not agree"),
    (Compared(kind="faster", pairs=(("wild", "slow"),)), "not resolved"),
    (Compared(kind="faster", pairs=(("quick", "slow"),), percent=(40.0, 40.0)), "agrees"),
    (Compared(kind="faster", pairs=(("quick", "slow"),), percent=(66.0, 66.0)), "agrees"),  # speed gained
    (Compared(kind="faster", pairs=(("quick", "slow"),), percent=(15.0, 20.0)), "in direction"),
    (Compared(kind="faster", pairs=(("quick", "slow"), ("slow", "quick"))), "does not agree"),
    (Compared(kind="faster", pairs=(("quick", "slow"),), statistic="throughput_per_s"), "agrees"),
    (Times(kind="times", row="slow", of="quick", factor=1.7), "agrees"),
    (Times(kind="times", row="slow", of="quick", factor=42.0), "in direction"),
    (Times(kind="times", row="quick", of="slow", factor=42.0), "does not agree"),
    (Extreme(kind="lowest", row="slow", statistic="sd", among=("slow", "quick")), "does not agree"),
    (Size(kind="size", codec="cbor", message={"a": 1}, bytes=4), "agrees"),
    (Size(kind="size", codec="json", message={"a": 1}, bytes=4), "does not agree"),
    (LargerEffect(kind="larger-effect", first=("slow", "quick"), second=("slow", "near"), statistic="mean"), "agrees"),
    (
        LargerEffect(kind="larger-effect", first=("slow", "near"), second=("slow", "quick"), statistic="mean"),
        "does not agree",
    ),
    (
        LargerEffect(kind="larger-effect", first=("slow", "wild"), second=("slow", "quick"), statistic="mean"),
        "not resolved",
    ),
    (Connections(kind="connections", rows=("slow",), policy="per-request"), "agrees"),
    (Connections(kind="connections", rows=("slow",), policy="reuse"), "does not agree"),
    (Alike(pairs=(("slow", "near"),)), "agrees"),
    (Alike(pairs=(("slow", "quick"),)), "does not agree"),
    (Alike(pairs=(("slow", "wild"),)), "not resolved"),
    (Fewer(row="slow", than="quick", times=3), "agrees"),
    (Fewer(row="slow", than="quick", times=1), "does not agree"),
    (Figure(kind="figure", groups=(("slow", "quick"),), equals=1700.0), "agrees"),
    (Figure(kind="figure", groups=(("slow", "quick"),), equals=10000.0), "does not agree"),
    (Compared(kind="faster", pairs=(("quick", "go"),)), "not asked here"),
    (Compared(kind="faster", pairs=(("quick", "far"),)), "not run yet"),
    (DeliversAll(kind="delivers-all", rows=("slow",)), "not asked here"),
]


@pytest.mark.parametrize(("test", "verdict"), CASES)
def test_a_sentence_is_held_against_our_intervals(test: Any, verdict: str) -> None:
    of = figures(
        a_cell("slow", SLOW, sd=0.2), a_cell("quick", QUICK), a_cell("near", NEAR), a_cell("wild", WILD), ping=0.5
    )
    assert hold(of, "said", (test,)).verdict == verdict


def test_committed_summaries_are_of_declared_runs_of_a_commit() -> None:
    for path in sorted(KEPT.glob("*.json")):
        (spec,) = [spec for spec in SPECS if spec.name == path.stem]
        kept = read(path)
        assert (kept.experiment, kept.overrides) == (spec.experiment, spec.overrides)
        assert re.fullmatch(r"[0-9a-f]{12}", kept.orch)
