"""Where more load brings no more replies, as a terminal shows it: a table for each stack and setting, and what follows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from orchestrator.analysis import load_tables, words
from orchestrator.analysis.load_series import LoadSeries


def saturation_lines(found: Sequence[LoadSeries], *, width: int = 100) -> Iterator[str]:
    """The lines, each setting below its own head; nothing without a series."""
    for setting, of_setting in groupby(found, key=lambda series: series.setting):
        yield ""
        yield f"saturation · {setting}"
        for series in of_setting:
            yield ""
            yield series.stack_label
            yield from _table(series)
            for sentence in series.sentences:
                lines = textwrap.wrap(
                    words.unbroken(sentence), width - 2, break_long_words=False, break_on_hyphens=False
                )
                yield from (f"  {line.replace(chr(0xA0), ' ')}" for line in lines)


def _table(series: LoadSeries) -> Iterator[str]:
    heads, rows = load_tables.heads(series), load_tables.rows(series)
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    last = len(heads) - 1
    for row in (heads, *rows):
        texts = (t.ljust(w) if p in (0, last) else t.rjust(w) for p, (t, w) in enumerate(zip(row, widths, strict=True)))
        yield f"  {'  '.join(texts)}".rstrip()
