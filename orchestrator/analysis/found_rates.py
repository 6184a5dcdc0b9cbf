"""What analysis says of searches for the highest rate at which goals hold: frozen shapes.

They stand by themselves so that `RunSummary` holds them and `capacity` makes them. Rates are per second, latencies
milliseconds, CPU shares of one core, and None means "not enough data to say".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.analysis.load_series import Limit
from orchestrator.analysis.terms import Interval

Verdict = Literal["held", "not held", "no result"]
Side = Literal["", "below", "at least"]
"""Of a rate found: it is that one, one below the lowest that was tried, or at least the highest."""
RateStanding = Literal["more", "less", "tie", "not resolved", "cannot tell"]
Waited = Literal["", "in flight", "late sends"]
"""Why goals were missed by requests that waited before they were sent: as many as may be were in flight, or the requester
was late; empty where those that were sent missed them, too."""
Bound = Literal["", "at least", "at most"]
RateLimit = Limit | Literal["in flight", "late sends"]


@dataclass(frozen=True, kw_only=True)
class ProbeSummary:
    """One trial of a search. `figures` are the statistics that its goals bound, in ms (`errors`: a share), by name.

    A figure is None where it lies among requests without a right reply, or that were not sent. `why` says why a goal did not
    hold, as a clause.
    """

    trial: int
    block: int
    rate_per_s: float
    verdict: Verdict
    why: str
    figures: dict[str, float | None]
    requests: int
    errors: int
    not_sent: int
    offered: float | None  # what was sent per second, over what was due
    requester_cpu: float | None
    responder_cpu: float | None
    waited: Waited = ""


@dataclass(frozen=True, kw_only=True)
class Search:
    """One repeat of a search: its trials in order, and between which two rates it ended.

    `held_per_s` is the highest rate at which the goals held (None: not at the lowest), `missed_per_s` the lowest at which
    they did not (None: they held at the highest). Where it has no result, `why_none` says why, and both are None.
    """

    repeat: int
    probes: tuple[ProbeSummary, ...]
    held_per_s: float | None
    missed_per_s: float | None
    why_none: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it found something."""
        return not self.why_none

    @property
    def is_below(self) -> bool:
        """Whether the goals held at no rate."""
        return self.is_over and self.held_per_s is None

    @property
    def is_at_least(self) -> bool:
        """Whether the goals held at the highest rate."""
        return self.is_over and self.missed_per_s is None and self.held_per_s is not None


@dataclass(frozen=True, kw_only=True)
class FoundRate:
    """The highest rate of a cell at which its goals hold.

    `rate_per_s` is the median over searches of what each found: with `side` `below` it is the lowest rate tried, with
    `at least` the highest; None without a search that ended. `interval` is the 95 % interval; where there is none,
    `why_no_interval` says why. `limit` is what limits at the rates just above (`in flight`: how many may be, `late sends`:
    the requester's, with the responder's CPU not known to be busy), and the CPU shares are those there. With
    `invalid` (names of checks that failed) none of it is to be relied on.
    """

    cell: str
    stack: str
    stack_label: str
    setting: str
    goals: str  # `p99 < 10 ms`
    lowest_per_s: float
    highest_per_s: float
    factor: float  # a rate over the next lower one
    searches: tuple[Search, ...]
    rate_per_s: float | None
    side: Side
    interval: Interval | None
    why_no_interval: str
    limit: RateLimit | None
    requester_cpu: float | None
    responder_cpu: float | None
    is_busy: bool = False
    is_control: bool = False
    invalid: tuple[str, ...] = ()
    sentence: str = ""

    @property
    def is_requesters(self) -> bool:
        """Whether the requester's side limits, so that the responder may do more."""
        return self.limit in ("requester", "in flight", "late sends")

    @property
    def ended(self) -> tuple[Search, ...]:
        """The searches that found something."""
        return tuple(search for search in self.searches if search.is_over)


@dataclass(frozen=True, kw_only=True)
class RateComparison:
    """A found rate over that of the reference; `ratio` above 1 is the higher rate.

    `interval` and `p_value` are Holm-adjusted over all comparisons of found rates of the run (a control's are its own), and
    the interval is wider by one step of the rates to either side. `by_search` is each repeat's ratio. With `bound` one of
    the rates is known from one side alone, and so is the ratio: `at least` the lower end of the interval, or `at most` the
    upper.
    """

    cell: str
    reference_cell: str
    setting: str
    label: str
    reference_label: str
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    by_search: tuple[float, ...]
    standing: RateStanding
    why: str
    is_control: bool = False
    bound: Bound = ""
