"""What must hold while a rate is raised: `p99 < 10ms`, `errors < 0.1 %`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.experiment.read.problems import shown
from orchestrator.experiment.read.units import DURATION, exact_duration, parse_share

ERRORS = "errors"
SHARES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
"""The statistics of latency that a goal may bound, with the share of requests that lies below each."""
PATTERN = r"^ *(p50|p90|p95|p99|p99\.9|max|errors) *< *[0-9]+(\.[0-9]+)? ?(us|µs|ms|s|m|min|h|%) *$"
_GOAL = re.compile(r"\s*(p50|p90|p95|p99|p99\.9|max|errors)\s*<\s*(\S.*?)\s*")
_BEYOND = 10  # requests that must be expected beyond a percentile: as the statistics of a trial require


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A statistic of a trial, and what it must stay below: seconds, or for `errors` a share of the requests."""

    statistic: str
    below: float

    @property
    def text(self) -> str:
        """The goal as people write it: `p99 < 10 ms`, `errors < 0.1 %`."""
        limit = f"{self.below * 100:g} %" if self.statistic == ERRORS else exact_duration(self.below)
        return f"{self.statistic} < {limit}"

    @property
    def requests(self) -> int:
        """How many requests a trial needs for it: ten are expected beyond a percentile, or would be errors at the limit."""
        if self.statistic == ERRORS:
            return math.ceil(round(_BEYOND / self.below, 6))
        share = SHARES[self.statistic]
        return 1 if share == 1 else math.ceil(round(_BEYOND / (1 - share), 6))


def parse_goal(text: object) -> Goal:
    """The goal that a person wrote; ValueError says what to write instead."""
    match = _GOAL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        like = f"'p99 < 10ms' or 'errors < 0.1 %': {', '.join((*SHARES, ERRORS))} below a limit"
        raise ValueError(f"'{shown(text)}' is not a goal such as {like}")
    statistic, limit = match.groups()
    below = parse_share(limit) if statistic == ERRORS else DURATION.number(limit)
    if below <= 0:
        raise ValueError(f"'{shown(text)}': nothing is below {limit}")
    return Goal(statistic=statistic, below=below)
