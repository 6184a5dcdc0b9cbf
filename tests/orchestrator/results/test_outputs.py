"""No file that a user names for a result lies in a run folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.results import compare
from orchestrator.errors import UsageError
from orchestrator.exports.targets import require_free
from orchestrator.report.page import write_page
from orchestrator.results.outputs import require_output


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "a"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text("")
    (tmp_path / "link").symlink_to(folder)
    return folder


@pytest.mark.parametrize("place", ["results/a/plan.json", "results/a/new/x.csv", "results/a", "link/x.csv"])
def test_a_place_in_a_run_folder_is_refused_and_one_beside_it_is_not(run: Path, tmp_path: Path, place: str) -> None:
    with pytest.raises(UsageError, match="lies in the run folder a"):
        require_output(tmp_path / place, "--out")
    require_output(tmp_path / "results" / "x.csv", "--out")


def test_each_verb_that_writes_a_named_file_refuses_it(run: Path) -> None:
    inside = run / "manifest.json"
    for write in (
        lambda: write_page("", inside),
        lambda: require_free(inside, is_dataset=False, force=True),
        lambda: require_free(run / "new", is_dataset=True, force=True),
        lambda: compare.compare("latest", markdown=inside),
        lambda: compare.compare("latest", junit=inside),
    ):
        with pytest.raises(UsageError, match="lies in the run folder a"):
            write()
    assert [path.name for path in run.iterdir()] == ["journal.jsonl"]
