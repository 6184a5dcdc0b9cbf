"""What came of the events of a stream in a trial: shapes alone, which `evidence` holds and `streams` computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class EventCounts:
    """Events of the measured phase; `strange` rows are of no subscription, another clock, or a number beyond the last."""

    offered: int = 0
    delivered: int = 0
    duplicated: int = 0
    reordered: int = 0
    wrong: int = 0
    strange: int = 0

    @property
    def dropped(self) -> int:
        """Due, and never came right."""
        return max(0, self.offered - self.delivered)

    def __add__(self, other: EventCounts) -> EventCounts:
        return EventCounts(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class StreamTrial:
    """What came of a stream in one trial, all its requesters together.

    `sent` is the sender's own count for the measured phase, `worst_late_ns` the sender's too, over the whole trial; None
    where it does not say, or counted subscriptions that were left alone. `late_p99_ns` and `late_most_ns` are by the stamps
    in the events, `begun_ns` is how long after its request a stream began, at worst. `rate_kept`: the rate of those stamps,
    as a share of the planned one, of the slowest subscription. `gap_p99_ns` is of the gaps as they came, and
    `gap_p99_on_time_ns` of what they would be had each event been sent when it was due. `before_sent`: events received
    before they were sent, by one clock; `early`: those sent before they were due. `silent`: subscriptions without a right
    event; `unended`: those that did not end as they should, by status. `asked`: all subscriptions, those of the warm-up
    too. `lasts_ns`: by its schedule.

    `reading_ns`: how long its clients take for an event at least (0: as they come), and `hasty` events were read sooner
    than that has it. `waiting`: the most events of one subscription that were stamped and not received, None over two
    clocks. There `bound_ns` is how far a delivery may be from what is shown of it, None where nothing bounds it;
    `is_contradictory`: no offset between both clocks has every event stamped after it was asked for and before it came.
    """

    counts: EventCounts
    sent: int | None
    interval_ns: int
    lasts_ns: int
    late_p99_ns: float | None
    late_most_ns: int | None
    worst_late_ns: int | None
    begun_ns: int | None
    rate_kept: float | None
    gap_p99_ns: float | None
    gap_p99_on_time_ns: float | None
    before_sent: int = 0
    early: int = 0
    silent: int = 0
    unended: Mapping[str, int] = field(default_factory=dict)
    asked: int = 0
    reading_ns: int = 0
    hasty: int = 0
    waiting: int | None = None
    bound_ns: int | None = None
    is_contradictory: bool = False
