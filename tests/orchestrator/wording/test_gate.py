"""`--fail-if-slower`: a pass needs evidence, and so does a failure."""

import pytest

from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.between_runs.changes import CHANGES
from orchestrator.errors import Regression, Undecided
from orchestrator.statistics.equivalence import standing
from orchestrator.wording.gate import require_not_slower


def row(low, high, verdict=None, label="grpc", doubts=()):
    interval = None if low is None else (low, high)
    return Row(
        cell=label,
        reference=label,
        group="add",
        label=label,
        statistic="median",
        value=1.0,
        reference_value=1.0,
        ratio=None if low is None else (low * high) ** 0.5,
        interval=interval,
        p_value=None,
        verdict=verdict or CHANGES[standing(interval)],
        doubts=doubts,
    )


def ended(*rows, limit=0.05):
    comparison = RunComparison(of="new", reference="old", statistic="median", margin=0.05, rows=rows)
    try:
        require_not_slower(comparison, limit)
    except (Regression, Undecided) as error:
        return error.exit_code
    return 0


@pytest.mark.parametrize(
    ("low", "high", "code"),
    [
        (0.98, 1.02, 0),
        (0.5, 0.9, 0),
        (1.01, 1.04, 0),  # slower, and surely by less than asked
        (0.74, 2.69, 8),  # 1.41: once a pass
        (0.9, 1.06, 8),
        (1.02, 1.3, 8),  # regressed, but perhaps by less than the limit
        (1.06, 1.3, 1),
        (None, None, 8),
    ],
)
def test_the_whole_interval_decides(low, high, code):
    assert ended(row(low, high)) == code


def test_one_row_that_is_surely_slower_fails_whatever_the_others_are():
    assert ended(row(0.98, 1.02), row(None, None), row(1.2, 1.4)) == 1


def test_one_row_without_an_answer_is_enough_to_abstain():
    assert ended(row(0.98, 1.02), row(None, None)) == 8


@pytest.mark.parametrize("bounds", [(1.2, 1.4), (0.9, 0.95)])
def test_what_a_failed_check_forbids_to_judge_neither_fails_nor_passes(bounds):
    assert ended(row(*bounds, verdict="cannot tell")) == 8


def test_a_doubt_stops_a_pass_that_the_interval_would_give():
    assert ended(row(0.8, 1.2), limit=0.5) == 0
    assert ended(row(0.8, 1.2, doubts=("in new a check failed: floor",)), limit=0.5) == 8


def test_the_limit_is_the_callers():
    assert ended(row(1.2, 1.4), limit=0.5) == 0
    assert ended(row(1.2, 1.4), limit=0.3) == 8


def test_the_message_names_the_worst_row_and_its_interval():
    comparison = RunComparison(
        of="new",
        reference="old",
        statistic="median",
        margin=0.05,
        rows=(row(0.98, 1.02, label="rest"), row(0.74, 2.69, label="grpc")),
    )
    with pytest.raises(
        Undecided, match=r"1 of 2 comparisons is undetermined, .* grpc has a ratio of 1.41 \(95 % interval 0.74"
    ):
        require_not_slower(comparison, 0.05)


def test_a_comparison_without_rows_passes_no_gate():
    assert ended() == 8
