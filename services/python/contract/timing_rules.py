"""Which timing rules that mislead a requester can apply beside the true one, by name; a rule's number is its place from 1.

They are rules found in code whose figures were published. None of their figures is a latency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from services.python.contract.strict import Part, part

TIMING_RULES: Final = "timing_rules"
"""The knob that asks for them."""
MISLEADING: Final = "misleading"


@part
class TimingRule(Part):
    """One rule: its name, what it does in a few words, and the statistic that such code publishes.

    `has_warm_up`: False for code that has none: what orch enters as warm-up is measured there. `begins`, `ends`: where its
    stamps lie, seen from the request's own: within them; not after them (`before`) or not before its own begin (`after`);
    by another clock anywhere.
    """

    name: str
    words: str
    statistic: Literal["median", "mean"] = "median"
    has_warm_up: bool = True
    begins: Literal["within", "before"] = "within"
    ends: Literal["within", "after", "anywhere"] = "within"


BATCH: Final = 50
EVENTS: Final = 1_000

RULES: Final[tuple[TimingRule, ...]] = (
    TimingRule(name="server-minus-client", words="the responder's stamp minus the requester's", ends="anywhere"),
    TimingRule(name="one-stamp-for-50", words=f"one send stamp for a batch of {BATCH}", begins="before"),
    TimingRule(name="thousand-events", words=f"{EVENTS:,} events timed from one request", begins="before"),
    TimingRule(name="stopped-at-enqueue", words="the timer stopped when the request was queued"),
    TimingRule(name="cpu-time", words="the requester's CPU time instead of wall time", ends="after"),
    TimingRule(
        name="connecting-in-the-mean",
        words="a mean that includes connecting, without a warm-up",
        statistic="mean",
        has_warm_up=False,
        begins="before",
    ),
)


def are_asked_for(knobs: Mapping[str, object]) -> bool:
    """Whether knobs, or a cell's factors, ask for them."""
    return knobs.get(TIMING_RULES) == MISLEADING
