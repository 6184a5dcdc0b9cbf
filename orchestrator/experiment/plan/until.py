"""Runs that may end before their last block, as soon as intervals are narrow enough: what a plan keeps of it."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.model.repeats import UntilSpec


@dataclass(frozen=True, kw_only=True)
class Until:
    """How narrow each interval is wanted, and the fewest and most blocks.

    `within` is relative: with 0.03 an interval may reach from its ratio / 1.03 to its ratio x 1.03.
    """

    within: float
    at_least: int
    at_most: int

    def may_end(self, blocks: int) -> bool:
        """Whether intervals are looked at after so many blocks; behind the last one there is nothing to decide."""
        return self.at_least <= blocks < self.at_most


def most_blocks(repeats: int | UntilSpec) -> int:
    """How many blocks a schedule has room for."""
    return repeats.at_most if isinstance(repeats, UntilSpec) else repeats


def of_spec(repeats: int | UntilSpec) -> Until | None:
    """What a plan keeps of it; None for a fixed number of blocks."""
    if not isinstance(repeats, UntilSpec):
        return None
    return Until(within=repeats.until, at_least=repeats.at_least, at_most=repeats.at_most)
