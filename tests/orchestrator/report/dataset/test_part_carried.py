"""Reports that carry a part of the samples: what is made anew from their stored figures, and what is found out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator.analysis.summary import RunSummary
from orchestrator.report.dataset import block, checked, container, made
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from tests.orchestrator.analysis.test_capacity import a_search, capacity
from tests.support.codec_runs import a_codec_run
from tests.support.event_runs import a_stream_run
from tests.support.runs import a_run, write_run
from tests.support.searched import a_search_run


def found_in(path: Path) -> list[str]:
    return [str(each) for each in checked.check(block.read_page(path)).differences]


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    root = tmp_path_factory.mktemp("part") / "results"
    return made.packed(RunFolder.open(write_run(a_run(blocks=10), root / "a-run"), root=root), most_rows=20_000)


def with_summary(part, change):
    """The same with another stored summary, digest and all, and that summary."""
    summary = change(RunSummary.from_json(part.documents[container.SUMMARY]))
    document = json.dumps(summary.to_dict()).encode()
    digests = part.about.documents | {container.SUMMARY: hashlib.sha256(document).hexdigest()}
    documents = part.documents | {container.SUMMARY: document}
    return replace(part, about=replace(part.about, documents=digests), documents=documents), summary


def turned(summary):
    """Who was faster is slower, in every comparison."""
    other = {"faster": "slower", "slower": "faster"}
    rows = [
        replace(c, ratio=1 / c.ratio, interval=(1 / c.interval[1], 1 / c.interval[0]), standing=other[c.standing])
        if c.standing in other and c.ratio and c.interval
        else c
        for c in summary.comparisons
    ]
    return replace(summary, comparisons=tuple(rows))


def slower_by(factor, summary):
    """One cell's trials and their mean are slower by a factor."""
    cell, *others = summary.cells
    trials = tuple(replace(trial, median=trial.median * factor) for trial in cell.trials)
    of = replace(cell.distribution, median=cell.distribution.median * factor)
    return replace(summary, cells=(replace(cell, trials=trials, distribution=of), *others))


def test_what_follows_from_a_stored_summary_is_made_anew(part):
    stored = RunSummary.from_json(part.documents[container.SUMMARY])
    assert part.summary() == stored
    assert with_summary(part, turned)[0].summary() == stored


@pytest.mark.parametrize(
    "change",
    [
        turned,
        lambda summary: replace(summary, conclusion=replace(summary.conclusion, sentence="grpc is best.")),
        lambda summary: replace(summary, verdicts=("grpc is best.",)),
    ],
)
def test_comparisons_and_sentences_that_do_not_follow_from_the_stored_cells_are_found(part, report, change):
    forged, summary = with_summary(part, change)
    inside = made.Inside(samples=forged.inside, of=forged.of, names_kept=False)
    report.write_text(block.with_block(render(summary, inside), forged.to_bytes()))
    assert found_in(report)


def test_what_one_trial_does_not_show_all_together_show(part, report):
    """Every median of a cell is moved by 5 %: each within what its own samples allow."""
    report.write_text(made.page(with_summary(part, partial(slower_by, 1.05))[0]))
    found = found_in(report)
    assert len(found) == 2
    assert "median of all 10 trials together: shown values that 6" in found[0]
    assert found[1].startswith("all cells, median of all 20 trials together")


def test_extremes_and_percentiles_of_a_cell_are_held_against_the_samples_inside(part, report):
    def changed(summary):
        cell, *others = summary.cells
        of = cell.distribution
        of = replace(of, minimum=of.median, maximum=of.median, p90=of.median)
        return replace(summary, cells=(replace(cell, distribution=of), *others))

    report.write_text(made.page(with_summary(part, changed)[0]))
    assert {each.partition(": ")[0].rpartition(", ")[2] for each in found_in(report)} == {
        "minimum",
        "maximum",
        "p90",
    }


@pytest.mark.slow
@pytest.mark.parametrize("run", [a_codec_run, a_stream_run, lambda: a_search_run(a_search(), capacity())])
def test_of_every_kind_of_run_the_same_is_made_anew(tmp_path, report, run):
    folder = RunFolder.open(write_run(run(), tmp_path / "results" / "a-run"), root=tmp_path / "results")
    of = made.packed(folder, most_rows=sum(map(folder.rows, folder.manifest().files)) // 2)
    assert not of.is_whole
    assert of.summary() == RunSummary.from_json(of.documents[container.SUMMARY])
    report.write_text(made.page(of))
    assert found_in(report) == []
