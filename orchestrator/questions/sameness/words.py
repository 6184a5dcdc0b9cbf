"""What a reader must know of stacks that do not do the same work."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.results.manifest import ReplyDifference


def sentence(difference: ReplyDifference) -> str:
    """Return one difference with its row, its stacks and their values, without a full stop."""
    (first, other), (mine, theirs) = difference.stacks, difference.values
    more = f", and {difference.rows - 1:,} more" if difference.rows > 1 else ""
    return f"{first} answers {difference.name} with {mine}, {other} with {theirs} (row {difference.row:,}{more})"


def headline(differences: Sequence[ReplyDifference]) -> str:
    """Return what the first line of a result says before anything else; empty where all stacks answer alike."""
    if not differences:
        return ""
    others = f"; {len(differences) - 1} more" if len(differences) > 1 else ""
    return f"not the same work, as {sentence(differences[0])}{others}."
