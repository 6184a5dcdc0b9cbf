"""`orch runs check` and `orch compare`: what they print, and how they end."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.results import compare
from orchestrator.cli.runs import show
from orchestrator.errors import Regression, Undecided, UsageError
from tests.support.runs import a_run, write_run

pytestmark = pytest.mark.usefixtures("out")


def a_run_called(name, **knobs):
    write_run(a_run(**knobs), Path("results") / name)


def test_what_is_checked_again_is_stored_again(out):
    a_run_called("sound")
    stored = Path("results/sound/checks.json")
    stored.write_text("of an older orch")
    show.check("sound", as_json=True)
    assert json.loads(stored.read_text()) == json.loads(out.getvalue())


def compared(new, old, limit):
    with pytest.raises((Regression, Undecided)) as caught:
        compare.compare(new, old, fail_if_slower=limit)
    return caught.value.exit_code


def test_compare_fails_a_build_only_when_surely_beyond_the_limit(out):
    a_run_called("old")
    a_run_called("new", seed=2, base_us={"rest": 450.0, "grpc": 300.0})
    compare.compare("new", "old", fail_if_slower="100%")
    assert compared("new", "old", "5%") == 1
    assert compared("new", "old", "50%") == 8  # the interval reaches beyond, and does not lie beyond


@pytest.mark.slow
def test_compare_takes_the_spread_from_equal_runs_beside_the_two(out):
    for number in range(7):
        a_run_called(f"run{number}", seed=number)
        show.check(f"run{number}")  # leaves the summary
    out.truncate(0)
    compare.compare("run6", "run0")
    assert "the spread between runs is estimated from 5 other runs" in out.getvalue()


@pytest.mark.parametrize("margin", ["much", "5"])
def test_a_margin_that_is_no_share_is_refused_before_anything_is_read(margin):
    with pytest.raises(UsageError, match="--fail-if-slower: "):
        compare.compare("no such run", fail_if_slower=margin)


def test_what_matters_to_the_experiment_can_be_the_limit(out):
    a_run_called("one")
    compare.compare("one", fail_if_slower="matters", as_json=True)  # grpc is faster than rest there
    document = json.loads(out.getvalue())
    assert document["gate"]["limit"] == document["margin"]
    assert document["gate"]["overall"] == "not slower"
    assert document["gate"]["outcomes"] == ["not slower"] * len(document["rows"])


def test_a_half_written_run_cannot_tell(out):
    whole = a_run(seed=2, blocks=3)
    cut = replace(whole.stored, state="interrupted", trials=whole.stored.trials[:3])
    a_run_called("old")
    write_run(replace(whole, stored=cut), Path("results") / "new")
    assert compared("new", "old", "5%") == 8
