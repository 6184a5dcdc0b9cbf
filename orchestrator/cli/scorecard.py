"""The scorecard as a terminal shows it: for each setting a table of stacks by criteria, and below it who is best."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from orchestrator.analysis import words
from orchestrator.analysis.scores import Score, Scorecard, ScoreTable
from orchestrator.cli.tables import table

_NOTE = (
    "A leader is named where the comparisons of the run tell it, by the rule of the answer. (j): a judgement, which nobody "
    "measured; the report says why. Lines are those of code, for all operations that an end carries."
)


def scorecard_lines(card: Scorecard, *, width: int = 100) -> Iterator[str]:
    """The lines, sentences wrapped at `width` columns; intervals and what is behind each entry are in the report."""
    for of in (*card.settings, card.properties):
        yield ""
        yield of.setting
        yield from _table(of)
        yield ""
        for row in of.rows:
            best = textwrap.wrap(
                words.unbroken(f"{row.title}: {row.best}"), width - 4, break_long_words=False, break_on_hyphens=False
            )
            for number, line in enumerate(best):
                yield f"{'    ' if number else '  '}{line.replace(chr(0xA0), ' ')}"
    yield ""
    yield from textwrap.wrap(_NOTE, width)


def _table(of: ScoreTable) -> Iterator[str]:
    rows = [(f"{row.title} ({row.unit})", *(_text(score) for score in row.scores)) for row in of.rows]
    yield from (f"  {line}" for line in table(("", *of.stacks), rows))


def _text(score: Score) -> str:
    if score.basis == "not measured":
        return "-"
    return f"{score.text} (j)" if score.basis == "judgement" else score.text
