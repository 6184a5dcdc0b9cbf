"""On which CPUs both ends of one machine run, where that is varied: a part of `factors.FACTORS`, which see."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Level

PIN = "pin"

OF_PINNING: tuple[Factor, ...] = (
    Factor(
        name=PIN,
        title="CPUs of both ends",
        kind="level",
        compared_as="with {}",
        varies_with=("placement",),
        belongs_to="placement",
        attribute="pin",
        reaches="hosts",
        levels=(
            Level(
                value="apart",
                words="both ends on CPUs of their own",
                compared="both ends on two CPUs",
                shown="on CPUs of their own (apart)",
            ),
            Level(
                value="together",
                words="both ends on one CPU",
                compared="both ends on one CPU",
                shown="on one CPU (together)",
            ),
            Level(value="off", words="neither end pinned", compared="neither end pinned", shown="not pinned (off)"),
        ),
    ),
)
"""A cell has a value where a list of them was given: then each is a placement of its own, with a floor of its own."""
