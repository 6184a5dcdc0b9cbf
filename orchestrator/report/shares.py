"""What the section on language and protocol shows of each setting."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.analysis import words
from orchestrator.analysis.shares import QUANTITIES, Shares
from orchestrator.analysis.summary import RunSummary
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.shares import share_dots
from orchestrator.wording import share_words


@dataclass(frozen=True, kw_only=True)
class ShareView:
    """A setting with its chart, the table of shares and what is to be said; no chart where nothing can be told."""

    of: Shares
    figure: Figure | None
    matrix: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    unit: words.Unit
    has_brackets: bool


def share_views(summary: RunSummary) -> list[ShareView]:
    """One of each setting in which stacks form a matrix of languages."""
    return [
        ShareView(
            of=of,
            figure=share_dots(f"shares-{number}", of, QUANTITIES),
            matrix=share_words.matrix(of),
            heads=tuple(f"{head[:1].upper()}{head[1:]}" for head in share_words.heads(of)),
            rows=tuple(share_words.rows(of)),
            notes=(*share_words.whys(of), *share_words.left_out(of)),
            unit=share_words.unit_of(of),
            has_brackets=share_words.has_brackets(of),
        )
        for number, of in enumerate(summary.shares, start=1)
    ]
