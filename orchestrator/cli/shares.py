"""Whose the spread between cells is, as a terminal shows it: for each setting a table of shares, and the medians."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.shares import Shares
from orchestrator.cli.tables import table
from orchestrator.wording import share_words


def share_lines(found: Sequence[Shares], *, width: int = 100) -> Iterator[str]:
    """The lines; nothing where stacks form no matrix of languages."""
    for of in found:
        unit = share_words.unit_of(of)
        yield ""
        yield f"language and protocol · {of.setting}"
        if any(spread.shares for spread in of.spreads):
            yield from (f"  {line}" for line in table(share_words.heads(of), share_words.rows(of)))
        for medians in of.medians:
            yield ""
            yield f"  median, {unit.name}, {medians.protocol}"
            rows = share_words.medians_rows(medians, unit)
            yield from (f"  {line}" for line in table(share_words.medians_heads(medians), rows))
        told = (*share_words.whys(of), *share_words.left_out(of))
        for sentence in (*told, *([share_words.BRACKETS] if share_words.has_brackets(of) else [])):
            yield from _wrapped(sentence, width)
    if found:
        has_changes = any(spread.changes for of in found for spread in of.spreads)
        yield from _wrapped(f"{share_words.NOTE} {share_words.CHANGES}" if has_changes else share_words.NOTE, width)


def _wrapped(sentence: str, width: int) -> Iterator[str]:
    lines = textwrap.wrap(words.unbroken(sentence), width - 2, break_long_words=False, break_on_hyphens=False)
    yield from (f"  {line.replace(chr(0xA0), ' ')}" for line in lines)
