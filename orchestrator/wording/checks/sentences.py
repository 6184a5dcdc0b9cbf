"""Explanation and action of a check's result, made from the kinds and values of its points.

The words of a kind are a text, or a text and an action. A text is a clause (`{steal:percent} of a core`), whose fields are
the result's evidence and the point's own values, each written by its unit. What is in brackets is left out where one of
its fields is missing, empty or zero. Semicolons join clauses, except after `.` or `:` and before a space, `,` or `:`. A text
that begins with a name (`{tool:name}`) keeps its small letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from orchestrator import quantities
from orchestrator.findings.check_result import CheckResult, Point, counts
from orchestrator.findings.summary import RunSummary
from orchestrator.wording.checks import ends, latency, load, network, replies
from orchestrator.wording.checks.vocabulary import CAUSES, REMEDIES, REPORTED, Words

SCHEMA_VERSION = 2
NOTHING = "Nothing to do."

_QUIETER = "Repeat it on a quiet machine: in most trials it would be a failure."
ANY: Mapping[str, Words] = {
    "goals-allow-errors": "The goals of the search say how many errors there may be:",
    "goals-did-not-hold": "A search tried this rate, and its goals did not hold:",
    "in-some-trials": ("So it was in {trials} of {of_trials} trials.", _QUIETER),
    "no-sizes": ("The client library does not report the size of its bodies.", "Use a client that reports body sizes."),
    "nothing-to-check": "This run has nothing for it to check.",
    "other-kind": "This check applies to {judged:kinds}; this cell measures {measured:kind}.",
    "requester-did-not-report": (
        "The requester did not report {field:reported}.",
        "Use a requester of orch, or one that prints `{field}` in its `done` line.",
    ),
    "responder-did-not-report": (
        f"The responder did not report {{field:reported}}[: {quantities.NOT_OURS}{{own:if}}].",
        "Use a responder of orch, or one that prints `{field}` in its `stats` line.",
    ),
}
WORDS: Mapping[str, Mapping[str, Words]] = {
    **ends.WORDS,
    **latency.WORDS,
    **load.WORDS,
    **network.WORDS,
    **replies.WORDS,
}
"""By the name of a check and the kind of a point."""

_UNITS: Mapping[str, Callable[[Any], str]] = {
    "bounds": lambda interval: " to ".join(quantities.bounds(interval[:2], *interval[2:])),  # and the margin
    "causes": lambda names: "; or ".join(CAUSES[name] for name in names),
    "core": lambda n: "the responder's core" if n == 1 else f"the busiest core of the responder's {n:,} workers",
    "changes": lambda interval: " to ".join(quantities.change(bound - 1, 1) for bound in interval),
    "difference": quantities.difference,
    "events": lambda n: quantities.listed([f"{n[name]:,} {what}" for name, what in load.EVENTS.items() if n[name]]),
    "every": lambda number: "both" if number == 2 else f"all {number}",
    "factor": quantities.factor,
    "failed": lambda by_label: "; ".join(f"{label} failed {', '.join(names)}" for label, names in by_label.items()),
    "groups": lambda pairs: quantities.listed(
        [*dict.fromkeys(f"{quantities.percent(share)} of the requests take {quantities.ns(ns)}" for share, ns in pairs)]
    ),
    "if": lambda _: "",
    "kind": lambda kind: quantities.OF_KIND[kind][0],
    "kinds": lambda kinds: quantities.listed([quantities.OF_KIND[kind][1] for kind in kinds]),
    "listed": quantities.listed,
    "ms": quantities.ms,
    "name": str,
    "no_reply": lambda missing: quantities.no_reply(*missing),
    "ns": quantities.ns,
    "off": quantities.off,
    "omitted": lambda by_name: "; ".join(map(" ".join, by_name.items())),
    "percent": quantities.percent,
    "percent2": lambda share: quantities.percent(share, 2),
    "percent4": lambda share: quantities.percent(share, 4),
    "rate": quantities.rate,
    "remedies": lambda names: " ".join(REMEDIES[name] for name in names),
    "reported": lambda field: REPORTED[field],
    "repr": repr,
    "s": lambda seconds: quantities.ns(seconds * 1e9),
    "span": lambda ends: " to ".join(dict.fromkeys(map(str, ends))),
    "statuses": lambda pairs: quantities.listed([f"{number:,} with {status}" for status, number in pairs]),
    "us": lambda microseconds: quantities.ns(microseconds * 1e3),
}
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")
_NAME = re.compile(r"\{\w+:name\}")


def explanation(result: CheckResult) -> str:
    """Return in one or two sentences what was measured, what was expected and what follows."""
    text = ""
    for point in result.points:
        words = _words(result, point)[0]
        part = _filled(words, _values(result, point))
        between = "" if not text or part[:1] in " ,:" else " " if text[-1] in ".:" else "; "
        text += between + (part if text or _NAME.match(words) else part[:1].upper() + part[1:])
    return text if text.endswith(".") else f"{text}."


def action(result: CheckResult) -> str:
    """Return what the reader can do about it: what the last point says that names an action."""
    if result.verdict in ("pass", "not applicable"):
        return NOTHING
    actions = (_filled(_words(result, point)[1], _values(result, point)) for point in reversed(result.points))
    return next(filter(None, actions), NOTHING)


def documents(summary: RunSummary) -> dict[str, dict[str, Any]]:
    """Return what analysis leaves in a run folder, by file name."""
    return {"summary.json": summary.document(), "checks.json": document(summary.checks)}


def document(results: Iterable[CheckResult]) -> dict[str, Any]:
    """Return what `orch runs check --json` prints and `checks.json` holds."""
    results = tuple(results)
    checks = [asdict(result) | {"explanation": explanation(result), "action": action(result)} for result in results]
    return {"schema_version": SCHEMA_VERSION, "counts": counts(results), "checks": checks}


def _words(result: CheckResult, point: Point) -> tuple[str, str]:
    words = WORDS.get(result.name, {}).get(point.kind) or ANY[point.kind]
    return (words, "") if isinstance(words, str) else words


def _values(result: CheckResult, point: Point) -> dict[str, Any]:
    """The evidence, the point's own values, and what the trial is called."""
    evidence = result.evidence
    block, trial = evidence.get("block"), evidence.get("trial")
    called = quantities.of_trial(block - 1, trial) if isinstance(block, int) and isinstance(trial, int) else ""
    return {"called": called, **evidence, **point.values}


def _filled(text: str, values: Mapping[str, Any]) -> str:
    def optional(match: re.Match[str]) -> str:
        names = [name for name, _ in _FIELD.findall(match[1])]
        return match[1] if all(values.get(name) for name in names) else ""

    return _FIELD.sub(lambda match: _written(values[match[1]], match[2] or ""), _BRACKETS.sub(optional, text))


def _written(value: Any, unit: str) -> str:
    """A value by its unit: one of `_UNITS`, `count request` or `count event is|events are`, or Python's own format."""
    if unit.startswith("count "):
        return quantities.count(value, *unit.removeprefix("count ").split("|"))
    return _UNITS[unit](value) if unit in _UNITS else format(value, unit)
