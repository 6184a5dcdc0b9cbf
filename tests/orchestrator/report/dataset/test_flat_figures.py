"""The figures and rows that a page carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import flat_figures, packed_rows
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
    about, packed = packed_rows.pack(columns)
    changed = replace(dataset, about=replace(dataset.about, rows=about), packed=packed, columns=columns)
    different = flat_figures.differences(stated, flat_figures.figures(changed.summary()))
    cells = {each.figure[1] for each in different if each.figure[0] == "cells" and each.figure[-1] == "median"}
    assert cells == {cell.id for cell in dataset.summary().cells if cell.protocol == "grpc"}


@pytest.mark.parametrize("content", ["", '<script type="application/json" id="figures-data">{"cells":[1]}</script>'])
def test_a_page_without_figures_or_with_another_form_of_them_states_none(content):
    with pytest.raises(ValueError, match="figure"):
        flat_figures.stated(content)


INT64 = st.integers(-(2**63), 2**63 - 1)


def unpacked(about, content):
    table = pq.read_table(pa.BufferReader(content))
    packed = {name: table[name].to_numpy() for name in packed_rows.PACKED}
    return {of.path: columns for of, columns in packed_rows.unpack(about, packed)}


def assert_same(found, files):
    assert found.keys() == files.keys()
    assert all((found[path][name] == files[path][name]).all() for path in files for name in COLUMNS)


def closed_loop(count, seed, *, connections=1, scheduled=False):
    rng = np.random.default_rng(seed)
    took = rng.integers(100_000, 400_000, count)
    connection = np.arange(count) % connections
    if scheduled:
        intended = 10**12 + np.arange(count) * 500_000
        sent = intended + rng.integers(0, 9_000, count)
    else:
        sent = np.empty(count, dtype=np.int64)
        for number in range(connections):
            mine = connection == number
            sent[mine] = 10**12 + np.cumsum(took[mine] + rng.integers(5_000, 9_000, mine.sum())) - took[mine]
        intended = sent
    columns = {name: np.zeros(count, dtype=np.int64) for name in COLUMNS}
    columns |= {"sequence": np.arange(1, count + 1), "connection": connection}
    columns |= {"intended_ns": intended, "sent_ns": sent, "received_ns": sent + took}
    order = np.argsort(columns["received_ns"], kind="stable")
    return {name: values[order] for name, values in columns.items()}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.lists(INT64, min_size=14, max_size=14), max_size=6), max_size=3))
def test_whatever_rows_hold_comes_back_to_the_bit(files):
    given_files = {
        f"f{number}": {name: np.array([row[place] for row in of], dtype=np.int64) for place, name in enumerate(COLUMNS)}
        for number, of in enumerate(files)
    }
    about, content = packed_rows.pack(given_files)
    assert_same(unpacked(about, content) if content else {}, given_files)


@pytest.mark.parametrize("loop", [{}, {"connections": 4}, {"scheduled": True}])
def test_a_sample_takes_few_bytes(loop):
    files = {f"f{n}": closed_loop(2_000, n, **loop) for n in range(5)}
    about, content = packed_rows.pack(files)
    assert {of.order for of in about} == {"schedule" if "scheduled" in loop else "connection"}
    assert len(content) / 10_000 < 6  # of 112
    assert_same(unpacked(about, content), files)
