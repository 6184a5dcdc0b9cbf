"""By which rule requests are timed: a part of `factors.FACTORS`, which see."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Level
from services.python.contract.timing_rules import MISLEADING, TIMING_RULES

OF_TIMING: tuple[Factor, ...] = (
    Factor(
        name=TIMING_RULES,
        title="timing rules",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="none", words="no misleading timing rule", compared="no misleading timing rule", shown="none"),
            Level(
                value=MISLEADING,
                words="misleading timing rules beside the true one",
                compared="misleading timing rules beside the true one",
                shown="misleading ones beside it",
                said="timing-rules",
            ),
        ),
        description="Time each request by rules that mislead, too, beside the true one (misleading), or not (none):"
        " of a whole experiment, and of no use to another (docs/timing-rules.md)",
        is_excludable=False,
    ),
)
