"""Tables, questions and progress of a terminal, drawn by rich: as wide as it, and unbroken where nobody watches."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orchestrator.cli.console import console, plain

_UNBROKEN = 10_000  # columns of a pipe, where a program reads


def width() -> int:
    """Columns of the terminal; as many as a line may need where there is none."""
    if not console.out.isatty():
        return _UNBROKEN
    return os.get_terminal_size(console.out.fileno()).columns or 80


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], columns: int | None = None) -> list[str]:
    """Return lines of a table, two spaces between columns; without any head, of the rows alone.

    A cell that has no room within `columns` (by default the terminal's) goes on in the next line, but for the first column.

    >>> table(("stack", "load"), [("grpc-aio", "closed"), ("rest", "100/s")])
    ['stack     load', 'grpc-aio  closed', 'rest      100/s']
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(heads), header_style="")
    for number, head in enumerate(heads):
        drawn.add_column(Text(head), overflow="fold", no_wrap=number == 0)
    for row in rows:
        drawn.add_row(*(Text(plain(text)) for text in row))
    out = io.StringIO()
    Console(file=out, width=columns or width(), color_system=None, legacy_windows=False).print(drawn)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def coloured(lines: Iterable[str], styles: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with the word that they begin with in its style."""
    for line in lines:
        word = next((word for word in styles if line.startswith(word)), "")
        yield (console.style(word, styles[word]) if word else "") + line.removeprefix(word)


def confirmed(question: str) -> bool:
    """Whether a person says yes; no where nothing is answered."""
    from rich.console import Console
    from rich.prompt import Confirm

    return Confirm.ask(plain(question), console=Console(file=console.err, highlight=False), default=False)
