"""What can differ between two cells in how requests are offered; `factors` has them among all others."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Level

OF_THE_LOAD: tuple[Factor, ...] = (
    Factor(
        name="concurrency",
        title="concurrency",
        kind="count",
        unit=" in flight",
        belongs_to="load",
        attribute="concurrency",
        reaches="load",
        column="concurrency",
    ),
    Factor(
        name="rate",
        title="rate",
        kind="rate",
        unit="/s",
        compared_as="at {}",
        varies_with=("concurrency",),
        belongs_to="load",
        attribute="rate_per_s",
        reaches="load",
    ),
    Factor(
        name="arrivals",
        title="arrivals",
        kind="level",
        unit=" arrivals",
        belongs_to="load",
        attribute="arrivals",
        needs="rate_per_s",
        reaches="load",
        levels=(
            Level(value="poisson", words="Poisson arrivals", compared="Poisson arrivals", shown="poisson"),
            Level(value="uniform", words="uniform arrivals", compared="uniform arrivals", shown="uniform"),
        ),
    ),
    Factor(
        name="think",
        title="think time",
        kind="time",
        belongs_to="load",
        attribute="think_s",
        lacks="rate_per_s",
        reaches="load",
    ),
    Factor(
        name="thinking",
        title="think times",
        kind="level",
        unit=" think times",
        belongs_to="load",
        attribute="thinking",
        lacks="rate_per_s",
        reaches="load",
        levels=(
            Level(value="constant", words="constant think times", compared="constant think times", shown="constant"),
            Level(
                value="exponential",
                words="exponential think times",
                compared="exponential think times",
                shown="exponential",
            ),
        ),
    ),
)
