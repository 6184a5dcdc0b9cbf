"""Tables of an answer beside those of its settings: figures by size, and what came of changed schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from orchestrator.analysis import native_clients, store_tables, words
from orchestrator.analysis.by_size import BySize, Figures
from orchestrator.analysis.client_share import ClientShare
from orchestrator.analysis.evolutions import Evolutions
from orchestrator.analysis.misleading import figure_words
from orchestrator.analysis.misleading.figures import RuleFigure
from orchestrator.analysis.store_tables import StoreRow

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


def evolution_lines(evolutions: Sequence[Evolutions], table: Table) -> Iterator[str]:
    """What came of each change, a row for each stack; below, what readers said that failed."""
    for of in evolutions:
        yield ""
        yield f"what came of the field that changed · {of.operation}"
        yield from table(("stack", *of.changes, ""), [(stack, *outcomes, "") for stack, outcomes in of.rows])
        for note in of.notes:
            yield f"  fails: {note}"


def timing_rule_lines(figures: Sequence[RuleFigure], table: Table) -> Iterator[str]:
    """What misleading rules would publish, a row for each rule, and which checks find it out."""
    for setting in dict.fromkeys(figure.setting for figure in figures):
        yield ""
        yield f"timing rules that mislead · {setting} · beside the true medians"
        yield from table(*figure_words.matrix([figure for figure in figures if figure.setting == setting]))


def client_share_lines(shares: Sequence[ClientShare], table: Table) -> Iterator[str]:
    """What each client adds to what a native one takes, a row for each cell."""
    if shares:
        yield ""
        yield "the client's share of the latency, against a native client (95 % intervals)"
        yield from table(tuple(head.lower() for head in native_clients.HEADS), native_clients.rows(shares))


def store_lines(stores: Sequence[StoreRow], table: Table) -> Iterator[str]:
    """Where the handling time of requests to a store went, a row for each cell."""
    if stores:
        yield ""
        yield "where the responder's handling time goes"
        yield from table(tuple(head.lower() for head in store_tables.HEADS), [row.texts for row in stores])


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
