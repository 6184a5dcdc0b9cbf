"""Tables for a terminal: columns as wide as they need, two spaces apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line of heads, then one for each row, all to the left.

    >>> list(table(("stack", "load"), [("grpc-aio", "closed"), ("rest", "100/s")]))
    ['stack     load', 'grpc-aio  closed', 'rest      100/s']
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
