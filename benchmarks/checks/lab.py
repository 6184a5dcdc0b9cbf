"""A neighbour of hosts that are control groups of one machine, each with a quota: beside all of them."""

from __future__ import annotations

import numpy as np

from benchmarks.checks.realistic import FAR
from tests.support.runs import Draft, host_counters

QUOTA = 0.2  # of a core: an f1-micro
_OF_ITS_TIME = 0.8  # that the quota stops each host: it would use a whole core


def beside(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """Use so much of a core of the machine, beside both ends, a little of sshd in each host, and of the system."""
    if draft.cell.placement != FAR.id:
        return
    elapsed_ns = int(draft.columns["received_ns"].max() - draft.columns["sent_ns"].min())
    elapsed_s = elapsed_ns / 1e9
    asked_s = float(draft.done["cpu_s"]) + elapsed_s * (QUOTA * float(rng.gamma(2.0, 0.01)))
    answered_s = float(draft.stats["cpu_s"]) - float(draft.stats_warm["cpu_s"])
    answered_s += elapsed_s * QUOTA * float(rng.gamma(2.0, 0.01))
    busy_s = asked_s + answered_s + elapsed_s * (float(rng.gamma(2.0, 0.02)) + size)
    stopped = int(_OF_ITS_TIME * elapsed_s / 0.05)
    counted = {"throttled": stopped, "busy": int(busy_s * 100), "pressure_us": int(0.1 * elapsed_s * 1e6)}
    draft.done["host_before"] = host_counters(0, cgroup_s=0.0)
    draft.done["host_after"] = host_counters(elapsed_ns, cgroup_s=asked_s, **counted)
    draft.stats_before["host"] = draft.stats_warm["host"] = host_counters(0, cgroup_s=0.0)
    draft.stats["host"] = host_counters(elapsed_ns, cgroup_s=answered_s, **counted)
