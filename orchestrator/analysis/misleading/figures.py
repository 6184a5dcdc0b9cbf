"""What one rule would publish for one cell, beside what is true of the same requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class RuleFigure:
    """One rule for one cell. Figures are milliseconds, and those of the rule are no latencies.

    `published`: the statistic that such code publishes, of its own record; None where orch refuses to read that (`refused`
    says why). `true`: the median of the same trials' round trips; `true_alike`: the statistic that is published, of these.
    `ratio`: of `published` to `true`, the geometric mean over blocks, with its 95 % interval; None where a figure is not
    above zero. `caught_by`: the checks that fail when its record is judged as a requester's, and do not fail for the true
    one. `warned_by`: those that then warn, likewise. `explanation`: what the first of them says. `failed_anyway`: the
    checks that fail for the true record, so that they tell nothing of the rule.
    """

    cell: str
    stack_label: str
    setting: str
    rule: str
    words: str
    statistic: Literal["median", "mean"]
    published: float | None = None
    true: float | None
    true_alike: float | None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    caught_by: tuple[str, ...] = ()
    warned_by: tuple[str, ...] = ()
    explanation: str = ""
    refused: str = ""
    failed_anyway: tuple[str, ...] = ()

    @property
    def is_caught(self) -> bool:
        """Whether orch calls such a record invalid, or does not even read it."""
        return bool(self.caught_by or self.refused) and not self.is_empty

    @property
    def is_warned_of(self) -> bool:
        """Whether checks warn of such a record, and none fails."""
        return bool(self.warned_by) and not (self.is_caught or self.is_empty)

    @property
    def is_empty(self) -> bool:
        """Whether the rule measured nothing: what a check says of times of zero says nothing of the rule."""
        return self.published is not None and self.published <= 0
