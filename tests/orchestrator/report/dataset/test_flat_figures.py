"""The figures that a page states as data: which they are, and how a changed one or a changed sample shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report.dataset import flat_figures, made, packed_rows
from orchestrator.summarise import summarise


@pytest.fixture(scope="module")
def stated(text):
    return flat_figures.stated(text)


def test_a_page_states_the_figures_of_its_summary(folder, stated):
    summary = summarise(folder)
    assert stated == flat_figures.figures(summary)
    cell, comparison, check = summary.cells[0], summary.comparisons[0], summary.checks[0]
    assert cell.distribution is not None
    assert cell.median_interval is not None
    assert stated["cells", cell.id, "median"] == cell.distribution.median
    assert stated["cells", cell.id, "median_interval", "low"] == cell.median_interval[0]
    assert stated["cells", cell.id, "trials", str(cell.trials[0].index), "p99"] == cell.trials[0].p99
    pair = comparison.factor, comparison.cell, comparison.reference_cell, comparison.statistic
    assert stated["comparisons", *pair, "ratio"] == comparison.ratio
    assert stated["checks", check.name, check.cell or "run"] == check.verdict


def test_every_changed_figure_is_a_difference(stated):
    for path, figure in stated.items():
        other = "changed" if isinstance(figure, str) else figure * 1.001 + 0.001
        assert flat_figures.differences({path: other}, stated) == (flat_figures.Difference(path, other, figure),)


def test_the_last_digits_of_a_number_are_no_difference(stated):
    numbers = {path: figure * (1 + 1e-12) for path, figure in stated.items() if not isinstance(figure, str)}
    assert flat_figures.differences(numbers, stated) == ()


def test_a_figure_that_nothing_gives_is_a_difference():
    assert flat_figures.differences({("cells", "x", "median"): 1.0}, {}) == (
        flat_figures.Difference(("cells", "x", "median"), 1.0, None),
    )


def test_changed_samples_give_other_figures_of_their_cell(dataset, stated):
    columns = {path: dict(of_file) for path, of_file in dataset.columns.items()}
    for path, of_file in columns.items():
        if "cell=grpc" in path:
            of_file["received_ns"] = of_file["received_ns"] + 1_000_000
    about, packed = packed_rows.pack(columns, {file.path: file.of for file in dataset.about.rows})
    changed = replace(dataset, about=replace(dataset.about, rows=about), packed=packed, columns=columns)
    different = flat_figures.differences(stated, flat_figures.figures(changed.summary()))
    cells = {each.figure[1] for each in different if each.figure[0] == "cells" and each.figure[-1] == "median"}
    assert cells == {cell.id for cell in dataset.summary().cells if cell.protocol == "grpc"}


def test_a_part_of_the_samples_states_the_figures_of_all(folder, stated):
    assert flat_figures.stated(made.page(made.packed(folder, most_rows=6_000))) == stated


@pytest.mark.parametrize("content", ["", '<script type="application/json" id="figures-data">{"cells":[1]}</script>'])
def test_a_page_without_figures_or_with_another_form_of_them_states_none(content):
    with pytest.raises(ValueError, match="figure"):
        flat_figures.stated(content)
