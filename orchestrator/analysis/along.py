"""What is said of differences along the axes of a run, beside its answer: those that change their sign first."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.questions.axes import words as axis_words
from orchestrator.questions.axes.find import Curves, Gap

MOST = 4  # sentences that stand beside the answer; all of them stand beside their pictures
_UNRESOLVED = 2  # the rank of those with no resolved difference at any point
_MOST_CROSSED = 2  # that belong to the answer itself


def sentences(curves: Sequence[Curves]) -> tuple[str, ...]:
    """Of the differences, first those with a crossing, then those told anywhere: each with its axis and its setting.

    Those without a resolved difference at any point are left out beside others that have one.
    """
    ranked = sorted(_told(curves), key=lambda told: _rank(told[1]))
    some = [text for text, gap in ranked if _rank(gap) < _UNRESOLVED]
    return tuple(some or [text for text, _ in ranked])[:MOST]


def crossings(curves: Sequence[Curves]) -> tuple[str, ...]:
    """From where on which of two is ahead, with the interval of that place; nothing where no difference changes its sign."""
    return tuple(text for text, gap in _told(curves) if gap.crossing is not None)[:_MOST_CROSSED]


def placed(
    said: tuple[str, ...], curves: Sequence[Curves], groups: set[str], behind: int, stored: str
) -> tuple[str, ...]:
    """The verdicts with what is said of differences along an axis, ahead of the sentences on single settings.

    They stand `behind` so many verdicts at least, the answer among them. What limits requests to a store (`stored`, also
    among the verdicts) comes right behind from where on another one is ahead.
    """
    told, crossed = sentences(curves), set(crossings(curves))
    if stored in said:
        said = tuple(text for text in said if text != stored)
        first = sum(text in crossed for text in told)
        told = (*told[:first], stored, *told[first:])
    settings = tuple(f"{group}: " for group in groups)
    place = next((n for n, text in enumerate(said) if n >= behind and text.startswith(settings)), len(said))
    return (*said[:place], *told, *said[place:]) if said else ()


def _rank(gap: Gap) -> int:
    if gap.crossing is not None:
        return 0
    return 1 if any(point.standing in ("faster", "slower") for point in gap.points) else _UNRESOLVED


def _told(curves: Sequence[Curves]) -> list[tuple[str, Gap]]:
    return [
        (
            ": ".join(
                (
                    *([f"By {each.title}"] if len(curves) > 1 else []),
                    *([panel.title] if len(each.panels) > 1 else []),
                    axis_words.sentence(each.axis, gap),
                )
            ),
            gap,
        )
        for each in curves
        for panel in each.panels
        for gap in panel.gaps
    ]
