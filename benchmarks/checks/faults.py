"""The registry: for each check the error it is there for, in sizes from hardly there to gross.

To add one, append a `Fault` under the check's name: how large the error is (`sizes`, ascending), what it does
to one trial of a clean run (a function of `injections`), and from which verdict on it counts as found. Without one,
`tests/benchmarks/test_checks.py` fails. An entry for a check that does not exist (yet) is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from benchmarks.checks import injections as to
from benchmarks.checks import of_one_host, plans
from tests.support.runs import Draft

Inject = Callable[[Draft, float, np.random.Generator], None]
Planned = Callable[[float], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One kind of error, graded. `percent` sizes are shares that are shown as such."""

    check: str
    what: str  # completes "finds ...": `{}` is where the size goes
    sizes: tuple[float, ...]
    inject: Inject
    found: Literal["warn", "fail"] = "warn"
    percent: bool = True
    planned: Planned = field(default=lambda _size: {})
    is_refereed: bool = False  # beside the turns of a load generator (`refereed`)

    def told(self, size: float) -> str:
        """The error with its size.

        >>> FAULTS[0].told(0.1)
        'the clock stops 10 % early, over 30 ms'
        """
        return self.what.format(f"{100 * size:g} %" if self.percent else f"{size:g}")


_SHARES = (0.01, 0.02, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 0.9, 0.95)
_RARE = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)

FAULTS: tuple[Fault, ...] = (
    Fault(
        check="floor",
        what="the clock stops {} early, over 30 ms",
        sizes=_SHARES,
        inject=to.stop_early,
        found="fail",
        planned=plans.far,
    ),
    Fault(
        check="floor", what="the clock stops {} early, on one host", sizes=_SHARES, inject=to.stop_early, found="fail"
    ),
    Fault(
        check="round-trips",
        what="{} round trips missing",
        sizes=(0.1, 0.2, 0.3, 0.5, 1.0),
        percent=False,
        inject=to.remove_round_trips,
        found="fail",
        planned=plans.far_per_request,
    ),
    Fault(
        check="round-trips",
        what="{} round trips too many",
        sizes=(0.3, 0.5, 0.75, 1.0, 2.0),
        percent=False,
        inject=to.add_round_trips,
        planned=plans.far,
    ),
    Fault(
        check="goodput",
        what="{} of the link's rate",
        sizes=(0.95, 1.0, 1.02, 1.05, 1.1, 1.5),
        inject=to.outrun_the_link,
        found="fail",
        planned=plans.far_bodies,
    ),
    Fault(
        check="one stamp per sample",
        what="{} of the requests share a send stamp",
        sizes=_RARE[:9],
        inject=to.share_stamps,
        found="fail",
    ),
    Fault(
        check="in flight",
        what="{} of the requests sent before the reply",
        sizes=_RARE,
        inject=to.send_before_the_reply,
        found="fail",
    ),
    Fault(check="Little's law", what="the clock stops {} early", sizes=_SHARES, inject=to.stop_early, found="fail"),
    Fault(
        check="Little's law",
        what="with eight in flight {} early",
        sizes=_SHARES,
        inject=to.stop_early,
        found="fail",
        planned=plans.eight,
    ),
    Fault(
        check="Little's law",
        what="with eight new connections at once {} early",
        sizes=_SHARES,
        inject=to.stop_early,
        found="fail",
        planned=plans.eight_per_request,
    ),
    Fault(
        check="Little's law",
        what="the clock stops {} µs early",
        sizes=(5, 10, 15, 20, 30, 50),
        percent=False,
        inject=to.stop_early_by,
        found="fail",
    ),
    Fault(
        check="Little's law",
        what="the clock stops {} µs early in one trial of five",
        sizes=(5, 10, 15, 20, 30, 50),
        percent=False,
        inject=to.stop_early_once,
        found="fail",
    ),
    Fault(
        check="Little's law",
        what="the clock stops {} early for the slowest 1 %",
        sizes=(0.05, 0.1, 0.15, 0.2, 0.3, 0.5),
        inject=to.stop_early_for_the_slowest,
        found="fail",
    ),
    Fault(
        check="Little's law",
        what="pauses overstated by {} of the window",
        sizes=(0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5),
        inject=to.overstate_pauses,
        found="fail",
    ),
    Fault(
        check="queueing ramp",
        what="latency that grows {}-fold over the trial",
        sizes=(1.2, 1.5, 2.0, 2.5, 3.0, 5.0),
        percent=False,
        inject=to.grow_with_place,
    ),
    Fault(
        check="completeness",
        what="{} of 1,000 requests left out",
        sizes=(1, 2, 5, 10),
        percent=False,
        inject=to.drop_the_slowest,
        found="fail",
    ),
    Fault(
        check="completeness",
        what="{} of 1,000 requests entered as warm-up",
        sizes=(1, 2, 5, 10),
        percent=False,
        inject=to.enter_the_slowest_as_warm_up,
        found="fail",
    ),
    Fault(
        check="completeness",
        what="{} of 1,000 requests of a closed loop entered as not sent",
        sizes=(1, 2, 5, 10),
        percent=False,
        inject=to.enter_the_slowest_as_not_sent,
        found="fail",
    ),
    Fault(
        check="mix",
        what="{} of 1,000 requests ask another operation than was drawn",
        sizes=(1, 2, 5, 10),
        percent=False,
        inject=to.ask_another,
        found="fail",
        planned=plans.mixed,
    ),
    Fault(
        check="order",
        what="{} of five blocks made in another order",
        sizes=(1, 2, 3, 5),
        percent=False,
        inject=to.turn_blocks_round,
        found="fail",
    ),
    Fault(
        check="order",
        what="the same order in {} of ten blocks",
        sizes=(2, 4, 6, 8, 10),
        percent=False,
        inject=to.nothing,
        planned=plans.fixed_orders,
    ),
    Fault(
        check="reply",
        what="{} of 1,000 replies not verified",
        sizes=(1, 2, 5, 10),
        percent=False,
        inject=to.leave_unverified,
        found="fail",
    ),
    Fault(
        check="connections",
        what="{} of the requests find their connection closed",
        sizes=_RARE[:9],
        inject=to.break_connections,
        found="fail",
    ),
    Fault(
        check="connections",
        what="{} of the connections used twice (per-request)",
        sizes=_RARE,
        inject=to.keep_connections,
        found="fail",
        planned=plans.per_request,
    ),
    Fault(
        check="connections",
        what="{} of eight declared connections carried by another, and numbered as if they were not",
        sizes=(1, 2, 4, 7),
        percent=False,
        inject=to.put_channels_together,
        found="fail",
        planned=plans.eight,
    ),
    Fault(
        check="connections",
        what="{} of eight declared connections unused",
        sizes=(1, 2, 4, 7),
        percent=False,
        inject=to.leave_connections_unused,
        planned=plans.eight,
    ),
    Fault(
        check="connections",
        what="{} of the handshakes resume no session, where all should",
        sizes=(0.01, 0.02, 0.05, 0.07, 0.1, 0.2, 0.5),
        inject=to.resume_no_session,
        planned=plans.resumed,
    ),
    Fault(
        check="offered load",
        what="a rate {} too low",
        sizes=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
        inject=to.send_too_slowly,
        planned=plans.open_loop,
    ),
    Fault(
        check="offered load",
        what="a schedule entered {} µs too late",
        sizes=(1, 5, 20, 50, 250),
        percent=False,
        inject=to.enter_the_schedule_late,
        found="fail",
        planned=plans.open_loop,
    ),
    Fault(
        check="requesters together",
        what="one of two requesters begins {} of the window late",
        sizes=(0.01, 0.05, 0.1, 0.15, 0.2, 0.5, 0.9),
        inject=of_one_host.begin_later,
        planned=plans.two_requesters,
    ),
    Fault(
        check="hosts alike",
        what="requests of one of two hosts take {} longer",
        sizes=(0.05, 0.1, 0.12, 0.15, 0.2, 0.3),
        inject=of_one_host.one_host_slower,
        planned=plans.two_requesters,
    ),
    Fault(
        check="steady state",
        what="{} more time in the first fifth",
        sizes=(0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.5),
        inject=to.start_slowly,
    ),
    Fault(check="tail shape", what="the slowest {} cut off", sizes=_RARE[1:8], inject=to.cut_the_tail),
    Fault(
        check="latency modes",
        what="{} of the requests wait 40 ms longer",
        sizes=_RARE[:8],
        inject=to.wait_for_an_acknowledgement,
    ),
    Fault(
        check="lost packets",
        what="packets sent again for {} of the requests",
        sizes=_RARE[:8],
        inject=to.lose_packets,
    ),
    Fault(
        check="responder's core",
        what="{} of its core used, eight in flight",
        sizes=(0.75, 0.8, 0.85, 0.9, 0.95, 1.0),
        inject=to.fill_the_responders_core,
        planned=plans.eight_for_long,
    ),
    Fault(
        check="requester's own work",
        what="{} of the time spent on verifying and recording, eight in flight",
        sizes=(0.01, 0.03, 0.05, 0.06, 0.1, 0.2, 0.3),
        inject=to.fill_the_requesters_time,
        planned=plans.eight,
    ),
    Fault(
        check="CPU time",
        what="a requester that counts {} more than its cgroup",
        sizes=(0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
        inject=to.count_too_much,
    ),
    Fault(
        check="requester's own work",
        what="{} of a latency done after the clock has stopped, one in flight",
        sizes=(0.02, 0.05, 0.07, 0.1, 0.15, 0.2, 0.4),
        inject=to.decode_late,
    ),
    Fault(
        check="noise",
        what="{} of a core used by others",
        sizes=(0.1, 0.2, 0.25, 0.3, 0.5, 1.0),
        inject=to.work_beside,
    ),
    Fault(check="clocks", what="a clock in steps of {} of the median", sizes=_RARE[3:8], inject=to.count_coarsely),
    Fault(
        check="clocks",
        what="a monotonic clock {} too slow",
        sizes=(0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.5),
        inject=to.slow_the_clock_down,
        found="fail",
    ),
    Fault(
        check="between trials",
        what="trials that spread by {}",
        sizes=(0.05, 0.1, 0.15, 0.2, 0.3, 0.5),
        inject=to.scatter_trials,
    ),
    Fault(
        check="percentile support",
        what="{} of 1,000 requests missing",
        sizes=(0.0, 0.005, 0.01, 0.05, 0.1, 0.5),
        inject=to.nothing,
        planned=plans.short,
    ),
    Fault(
        check="trial modes",
        what="two groups of trials {} apart, 10 blocks",
        sizes=(0.05, 0.1, 0.15, 0.2, 0.3, 0.5),
        inject=to.two_speeds,
        planned=plans.ten_blocks,
    ),
    Fault(
        check="codec size",
        what="{} of the payload not carried",
        sizes=(0.005, 0.01, 0.02, 0.05, 0.1, 0.5),
        inject=to.carry_less,
        found="fail",
        planned=plans.bodies,
    ),
    Fault(
        check="codec size",
        what="bytes on the wire counted {} times, 100 kB",
        sizes=(1.5, 2, 2.5, 3, 5, 10),
        percent=False,
        inject=to.count_more_bytes,
        planned=plans.bodies,
    ),
    Fault(
        check="lost packets",
        what="packets counted {} times those of the host",
        sizes=(1.02, 1.05, 1.1, 1.2, 1.5, 2),
        percent=False,
        inject=to.count_more_packets,
    ),
    Fault(
        check="control",
        what="the reference {} from itself",
        sizes=(0.01, 0.02, 0.03, 0.05, 0.1, 0.2),
        inject=to.prefer_the_control,
        planned=plans.controlled,
    ),
    Fault(
        check="referee",
        what="the clock stops {} early, beside a load generator whose does not",
        sizes=_SHARES,
        inject=to.stop_early,
        found="fail",
        is_refereed=True,
    ),
    Fault(
        check="event stream",
        what="{} of the events dropped",
        sizes=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.05),
        inject=to.drop_events,
        found="fail",
        planned=plans.streams,
    ),
    Fault(
        check="event stream",
        what="{} of the events come twice",
        sizes=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.05),
        inject=to.repeat_events,
        planned=plans.streams,
    ),
    Fault(
        check="event stream",
        what="{} of the events sent later than an interval",
        sizes=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
        inject=to.send_events_late,
        planned=plans.streams,
    ),
    Fault(
        check="event stream",
        what="one event in twenty sent late by {} of an interval",
        sizes=(0.1, 0.2, 0.3, 0.5, 0.75, 1.0),
        inject=to.send_events_later,
        planned=plans.streams,
    ),
    Fault(
        check="event stream",
        what="one event in a hundred stamped {} ms after it was sent, over 30 ms",
        sizes=(5, 10, 15, 20, 30, 50),
        percent=False,
        inject=to.stamp_events_late,
        found="fail",
        planned=plans.far_streams,
    ),
    Fault(
        check="event stream",
        what="a slow reader that takes each event {} sooner than it was told",
        sizes=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
        inject=to.read_slowly,
        found="fail",
        planned=plans.slow_readers,
    ),
    Fault(
        check="event stream",
        what="a sender {} slower than its rate",
        sizes=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
        inject=to.slow_the_sender_down,
        planned=plans.streams,
    ),
)
