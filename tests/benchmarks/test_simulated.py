"""How a simulation's tables are kept."""

from __future__ import annotations

from benchmarks.simulated import as_csv


def test_a_table_becomes_csv_without_its_rule_and_with_empty_cells() -> None:
    lines = [
        "| bursts, of | blocks | found |",
        "| --- | ---: | ---: |",
        "| none | 3 | 1.0 → 0.5 % |",
        "| some |  | 2 % |",
    ]
    assert as_csv(lines) == '"bursts, of",blocks,found\nnone,3,1.0→0.5%\nsome,,2%\n'
