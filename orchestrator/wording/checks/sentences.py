"""Explanation and action of a check's result, made from the kinds and values of its points.

The words of a kind are a text, or a text and an action. A text is a clause (`{steal:percent} of a core`), whose fields are
the result's evidence and the point's own values, each written by its unit. What stands in brackets is left out where one of
its fields is missing, empty or zero. Clauses are joined by semicolons; a text that ends with a point or a colon ends itself.
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
from orchestrator.wording.checks.terms import CAUSES, REPORTED, Words

SCHEMA_VERSION = 2
NOTHING = "Nothing to do."

_QUIETER = "Repeat it on a quiet machine: in most trials it would be a failure."
_ANY: Mapping[str, Words] = {
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
    "text": ("{text}", "{action}"),  # TODO: the old way
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
    "any": quantities.any_of,
    "bounds": lambda interval: " to ".join(quantities.bounds(interval)),
    "causes": lambda names: "; or ".join(CAUSES[name] for name in names),
    "change": quantities.change,
    "difference": quantities.difference,
    "factor": quantities.factor,
    "if": lambda _: "",
    "kind": lambda kind: quantities.OF_KIND[kind][0],
    "kinds": lambda kinds: quantities.listed([quantities.OF_KIND[kind][1] for kind in kinds]),
    "listed": quantities.listed,
    "ms": quantities.ms,
    "ns": quantities.ns,
    "off": quantities.off,
    "percent": quantities.percent,
    "percent2": lambda share: quantities.percent(share, 2),
    "percent4": lambda share: quantities.percent(share, 4),
    "rate": quantities.rate,
    "reported": lambda field: REPORTED[field],
    "s": lambda seconds: quantities.ns(seconds * 1e9),
    "size": quantities.size,
    "span": lambda ends: " to ".join(dict.fromkeys(map(str, ends))),
}
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")


def explanation(result: CheckResult) -> str:
    """Return in one or two sentences what was measured, what was expected and what follows."""
    text = ""
    for point in result.points:
        part = _filled(_words(result, point)[0], _values(result, point))
        between = "" if not text or not part else " " if text[-1] in ".:" else "; "
        text += between + part
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


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
    words = WORDS.get(result.name, {}).get(point.kind) or _ANY[point.kind]
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
