"""Tables of an answer beside those of its settings: figures by size, and what came of changed schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.by_size import BySize, Figures

Table = Callable[[Sequence[str], Sequence[Sequence[str]]], Iterator[str]]
"""What makes lines of heads and rows."""


def by_size_lines(sizes: Sequence[BySize], table: Table) -> Iterator[str]:
    """Verified content a second and bytes on the wire, a row for each operation and a column for each stack."""
    for of in sizes:
        for title, text in (
            ("goodput by size, MB/s (95 % interval)", _goodput),
            ("bytes on the wire by size, sent and received a request", _wire),
        ):
            if all(text(figures) == "-" for row in of.rows for figures in row.cells):
                continue
            yield ""
            yield f"{title} · {of.setting}"
            yield from table(
                ("asked", *of.labels, ""),
                [(row.operation, *(text(figures) for figures in row.cells), "") for row in of.rows],
            )


def _goodput(figures: Figures | None) -> str:
    if figures is None or figures.goodput_mb_per_s is None:
        return "-"
    bounds = figures.goodput_interval
    told = (
        "" if bounds is None else " (*)" if words.is_vague(bounds) else f" ({' to '.join(map(words.goodput, bounds))})"
    )
    return words.goodput(figures.goodput_mb_per_s) + told


def _wire(figures: Figures | None) -> str:
    if figures is None or figures.wire_bytes is None:
        return "-"
    return ", ".join(map(words.size, figures.wire_bytes))
