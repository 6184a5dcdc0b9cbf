"""Words of the checks in `orchestrator/checks/latency`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import quantities
from orchestrator.wording.checks.vocabulary import Words

_MODES: Mapping[str, Words] = {
    "all-wait": (
        "Requests take {median_ms:ms}, against {against_ms:ms} for the floor. Possible cause: {causes:causes}.",
        "{causes:remedies}",
    ),
    "groups": (
        "{groups:groups}, a quick one {quick_ns:ns}."
        " Possible cause: {causes:causes}[; TCP sent {retransmits:count packet} again].",
        "Read the groups and their shares, not mean and SD; a percentile near such a share varies from run to run."
        "[ {avoidable:remedies}]",
    ),
    "mix": "A mix has requests of several operations, each with a latency of its own: that they form groups says nothing.",
    "no-groups": "No group of requests waits for anything that is known.",
}
_UNKNOWN = "What is counted was quiet; what disturbed the responder is not known"
_LOOK = "See for yourself that nothing else runs where it answers."
_NOISE: Mapping[str, Words] = {
    "foreign": "other processes used {foreign:percent} of a core",
    "loud": (
        "On {where}, during {called}:",
        "Trust differences within a block, not absolute numbers, or repeat on a quiet machine.",
    ),
    "no-counters": (
        "The hosts have no counters for steal, throttling or pressure.",
        "Measure on Linux, which has them, or make sure that nothing else runs.",
    ),
    "no-counters-there": (
        "{where} counts neither steal, throttling nor pressure.",
        "Measure on Linux, which does, or make sure that nothing else runs.",
    ),
    "pressure": "something waited for a CPU that others used for {pressure:percent} of the time",
    "quiet": "The hosts were quiet.",
    "steal": "the hypervisor took {steal:percent} of a core away",
    "throttled": "the CPU quota stopped it for {throttled:percent} of the time",
    "unknown-database": (f"{_UNKNOWN}: nobody counts what a database's server did meanwhile.", _LOOK),
    "unknown-service": (f"{_UNKNOWN}: {quantities.NOT_OURS}.", _LOOK),
}
_WARM_UP = "Lengthen the warm-up (`warmup`) or the trial until this disappears."
_STEADY_STATE: Mapping[str, Words] = {
    "as-others": "After the first fifth of the window requests drift as those of the block's other stacks do, but for"
    " {beyond_others:changes}.",
    "faster": ("In all trials, requests take {drift:off} less time after the first fifth of the window.", _WARM_UP),
    "few": ("{trials:count trial}: at least {fewest} are needed to find a drift that all share.", "Raise `repeats`."),
    "slower": ("In all trials, requests take {drift:off} more time after the first fifth of the window.", _WARM_UP),
    "steady": "No drift shared by the {trials} trials: {interval:changes} after the first fifth of the window.",
    "too-few": ("Fewer than {fewest} requests per trial: too few to see a drift.", "Ask for more requests per trial."),
    "wide": (
        "The {trials} trials allow a drift of {interval:changes} after the first fifth of the window.",
        "Raise `repeats` or plan more requests per trial, to narrow it to 5 % either way.",
    ),
}
WORDS: Mapping[str, Mapping[str, Words]] = {"latency modes": _MODES, "noise": _NOISE, "steady state": _STEADY_STATE}
