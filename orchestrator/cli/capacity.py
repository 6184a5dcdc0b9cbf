"""The highest rates that searches found, as a terminal shows them: a table for each setting."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from orchestrator.analysis import capacity_words, words
from orchestrator.analysis.found_rates import FoundRate, RateComparison


def capacity_lines(
    found: Sequence[FoundRate], comparisons: Sequence[RateComparison], *, width: int = 100
) -> Iterator[str]:
    """The lines; nothing where no rate was searched for."""
    for (setting, goals), of in groupby(found, key=lambda one: (one.setting, one.goals)):
        yield ""
        yield f"highest rate while {goals} · {setting}"
        rows = [capacity_words.row(one, comparisons) for one in of]
        heads = capacity_words.HEADS
        widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
        last = len(heads) - 1
        for row in (heads, *rows):
            texts = (
                text.ljust(wide) if place in (0, last) else text.rjust(wide)
                for place, (text, wide) in enumerate(zip(row, widths, strict=True))
            )
            yield f"  {'  '.join(texts)}".rstrip()
    if found:
        for line in textwrap.wrap(words.unbroken(capacity_words.NOTES), width, break_on_hyphens=False):
            yield line.replace("\u00a0", " ")
