"""The page that compares: the same rows as `orch compare`."""

from __future__ import annotations

import pytest

from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.between_runs.measured_runs import beside
from orchestrator.web.site import Site
from tests.support.web import OLDER, RUNS, WITH_SAMPLES


def test_two_runs_are_compared_as_on_the_command_line(shared, pages):
    new, old = map(Site(shared).judged, (WITH_SAMPLES, OLDER))
    history = beside(new.summary, old.summary, new.folder, old.folder)
    expected = compare_runs(new.summary, old.summary, "p99", history)
    context = pages.get(f"/compare?run={WITH_SAMPLES}&run={OLDER}&statistic=p99").context
    (compared,) = context["compared"]
    assert expected.rows
    assert compared.comparison.rows == expected.rows
    assert compared.picture.count("<circle") == sum(row.ratio is not None for row in expected.rows)
    assert [len(pictures) for pictures in context["sides"]] == [1, 1]


def test_one_run_compares_its_own_stacks(shared, pages):
    expected = compare_within(Site(shared).judged(WITH_SAMPLES).summary, "median")
    (compared,) = pages.get(f"/compare?run={WITH_SAMPLES}").context["compared"]
    assert expected.rows
    assert compared.comparison.rows == expected.rows


def test_without_a_run_the_page_leads_to_the_list(pages):
    answer = pages.get("/compare")
    assert (answer.status_code, answer.context["compared"]) == (200, [])


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (f"run={WITH_SAMPLES}&run=nope", 404),
        (f"run={WITH_SAMPLES}&run={WITH_SAMPLES}", 400),
        ("&".join(f"run={number}" for number in range(9)), 400),
        (f"run={WITH_SAMPLES}&statistic=p50", 400),
        (f"run={RUNS[0]}", 422),
    ],
)
def test_runs_that_cannot_be_compared(pages, query, status):
    assert pages.get(f"/compare?{query}").status_code == status
