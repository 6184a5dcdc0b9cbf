"""What is said of differences along the axes of a run, beside its answer: those that change their sign first."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis.series import Curves, Gap

MOST = 4  # sentences that stand beside the answer; all of them stand beside their pictures
_MOST_CROSSED = 2  # that belong to the answer itself


def sentences(curves: Sequence[Curves]) -> tuple[str, ...]:
    """Of the differences, first those with a crossing, then those told anywhere: each with its axis and its setting."""
    return tuple(text for text, _ in sorted(_told(curves), key=lambda told: _rank(told[1])))[:MOST]


def crossings(curves: Sequence[Curves]) -> tuple[str, ...]:
    """From where on which of two is ahead, with the interval of that place; nothing where no difference changes its sign."""
    return tuple(text for text, gap in _told(curves) if gap.crossing is not None)[:_MOST_CROSSED]


def _rank(gap: Gap) -> int:
    if gap.crossing is not None:
        return 0
    return 1 if any(point.standing in ("faster", "slower") for point in gap.points) else 2


def _told(curves: Sequence[Curves]) -> list[tuple[str, Gap]]:
    return [
        (
            ": ".join(
                (
                    *([f"By {each.title}"] if len(curves) > 1 else []),
                    *([panel.title] if len(each.panels) > 1 else []),
                    gap.said,
                )
            ),
            gap,
        )
        for each in curves
        for panel in each.panels
        for gap in panel.gaps
    ]
