"""Who leads, and comparisons by what was asked."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.experiment.plan.plan import Contrast
from orchestrator.findings.ranking import Ranking, Side, leaders, rankings
from orchestrator.findings.summary import RunSummary
from orchestrator.statistics.equivalence import standing
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.summarise import summarise
from tests.support.concluded import setting, summary
from tests.support.runs import Draft, a_plan, a_run

LEAST = log(1.05)


def side(cell: str, ratio: float, width: float) -> Side:
    interval = (ratio / width, ratio * width)
    return Side(cell=cell, ratio=ratio, interval=interval, standing=standing(interval))


def test_one_that_is_slower_than_the_reference_does_not_lead_beside_it() -> None:
    """The quickest is open, so it is ahead of nobody; the reference is ahead of `late`."""
    open_one, late = side("open", 0.95, 1.19), side("late", 1.2, 1.13)
    assert leaders([open_one, late], "reference", LEAST) == ("open", "reference")


def test_a_reference_that_one_is_ahead_of_does_not_lead_beside_it() -> None:
    open_one, early = side("open", 0.90, 1.2), side("early", 0.92, 1.01)
    assert leaders([open_one, early], "reference", LEAST) == ("open", "early")


@given(
    some.lists(some.tuples(some.floats(0.5, 2.0), some.sampled_from([1.001, 1.02, 1.1, 1.4])), min_size=1, max_size=6)
)
def test_nobody_leads_beside_one_who_is_ahead_of_him(drawn: list[tuple[float, float]]) -> None:
    sides = [side(f"side {number}", ratio, width) for number, (ratio, width) in enumerate(drawn)]
    ahead = leaders(sides, "reference", LEAST)
    assert ahead
    standings = {of.cell: of.standing for of in sides if of.cell in ahead}
    assert "reference" not in ahead or not {"faster", "slower"} & set(standings.values())
    assert not {"faster", "slower"} <= set(standings.values()) or max(
        of.ratio for of in sides if of.cell in ahead
    ) <= 1.05 * min(of.ratio for of in sides if of.cell in ahead)


def ranking_of(medians: dict[str, float], width: float) -> Ranking:
    (ranking,) = rankings(summary(setting(medians, width)))
    return ranking


@pytest.mark.parametrize(
    ("medians", "width", "kind", "tiers"),
    [
        ({"rest": 0.3, "grpc": 0.2}, 1.02, "fastest", [["grpc"], ["rest"]]),
        ({"rest": 0.3, "grpc": 0.301}, 1.01, "equal", [["rest", "grpc"]]),
        ({"rest": 0.2, "grpc": 0.21}, 1.5, "open", [["rest", "grpc"]]),
        ({"rest": 0.3, "grpc": 0.2, "cbor": 0.202}, 1.005, "equal", [["grpc", "cbor"], ["rest"]]),
        ({"rest": 0.3, "grpc": 0.2, "cbor": 0.21}, 1.1, "open", [["grpc", "cbor"], ["rest"]]),
        ({"rest": 0.3, "grpc": 0.35, "cbor": 0.2}, 1.02, "fastest", [["cbor"], ["rest"], ["grpc"]]),
    ],
)
def test_tiers_and_outcome(medians: dict[str, float], width: float, kind: str, tiers: list[list[str]]) -> None:
    ranking = ranking_of(medians, width)
    assert [[ranking.names[cell] for cell in tier.cells] for tier in ranking.tiers] == tiers
    assert (ranking.outcome.kind, ranking.outcome.names) == (kind, frozenset(tiers[0]))


def test_one_that_could_not_be_compared_is_in_no_tier_and_has_its_reason() -> None:
    cells, rows = setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.1})
    reason = Reason(kind=ReasonKind.SURVIVORS, cells=(cells[2].id,))
    rows[1] = replace(rows[1], interval=None, standing="cannot tell", reason=reason)
    (ranking,) = rankings(summary((cells, rows)))
    assert ranking.ranked == ("grpc", "rest")
    assert [member.reason for member in ranking.undecided] == [reason]


def test_where_a_schedule_sets_every_median_p99_is_compared() -> None:
    cells, (row,) = setting({"rest": 0.3, "grpc": 0.2})
    scheduled = replace(row, interval=None, ratio=None, standing="cannot tell", reason=Reason(kind=ReasonKind.SCHEDULE))
    (ranking,) = rankings(summary((cells, [scheduled, replace(row, statistic="p99")])))
    assert ranking.statistic == "p99"


BY_CONNECTION = Contrast(factor="connection", references=("per-request",))
BY_COMPRESSION = Contrast(factor="compression", references=("none",))
KEPT_OR_NOT = [{"connection": "reuse"}, {"connection": "per-request"}]
GZIP_OR_NOT = [{"connection": "reuse", "compression": "none"}, {"connection": "reuse", "compression": "gzip"}]


def kept_or_not(**given) -> RunSummary:
    plan = a_plan(
        **{"stacks": ("grpc",), "calls": KEPT_OR_NOT, "contrasts": [BY_CONNECTION]} | given.pop("planned", {})
    )
    return summarise(a_run(plan, **{"effects": {"per-request": 1.8}} | given))


def gzip_or_not(**given) -> RunSummary:
    plan = a_plan(**{"calls": GZIP_OR_NOT, "contrasts": [BY_COMPRESSION]} | given.pop("planned", {}))
    return summarise(a_run(plan, **given))


def medians(run: RunSummary):
    return [c for c in run.comparisons if c.statistic == "median" and not c.control]


def test_what_failed_comes_before_any_latency():
    def fails(draft: Draft) -> None:
        if draft.cell.factors["compression"] == "gzip":
            measured = draft.columns["phase"] == 1
            draft.columns["status"][measured] = 4
            draft.done["errors"] = {"timeout": int(measured.sum())}

    run = gzip_or_not(planned={"stacks": ("grpc",)}, spoil=fails)
    (median,) = medians(run)
    assert median.standing == "cannot tell"
    assert median.reason.kind is ReasonKind.CENSORED


def test_controls_stay_out_of_the_family_and_widen_what_is_compared_in_their_setting():
    run = kept_or_not(planned={"controls": 2})
    assert [c.factor for c in run.comparisons if c.control and c.statistic == "median"] == ["stack"] * 4
    (median,) = medians(run)
    assert not median.control
