"""How a row's figures came about: what its row, the file, and the file's words say, in that order.

Publications seldom have a field for it; they write "Poisson arrivals" or "measured with Locust". Such words only ever
count in a publication's favour: they widen what a figure may honestly be.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from orchestrator.analysis.audit.model import AuditFile, Method, Percentiles, Row, Stated

_HISTOGRAM = {"percentiles": Percentiles(source="histogram")}


def _sketch(error: float) -> dict[str, Any]:
    return {"percentiles": Percentiles(source="sketch", relative_error=error)}


# What tools do to the figures they print, and what words of a method mean. The first match of each field counts.
WORDS: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = tuple(
    (re.compile(rf"(?i)\b(?:{pattern})\b"), facts)
    for pattern, facts in (
        # wrk 4 adds the samples that a stalled connection "would have" sent (stats_correct in its wrk.c).
        ("wrk", {"corrected": True}),
        ("wrk2", {"corrected": True, **_sketch(0.001)}),
        ("coordinated omission|omission[- ]corrected", {"corrected": True}),
        # Locust keys response times by two significant digits from 100 ms on (log_response_time in stats.py).
        ("locust", {"percentiles": Percentiles(digits=2)}),
        ("k6", {"connecting": "excluded"}),
        ("exclud(?:es?|ing) (?:the )?connect\\w*|without connecting", {"connecting": "excluded"}),
        ("prometheus|histogram_quantile|grafana|fortio|(?:histogram )?buckets?|interpolated", _HISTOGRAM),
        ("hdr\\w*", _sketch(0.001)),
        ("gatling|ddsketch|datadog", _sketch(0.01)),
        ("t-?digest|vegeta|elasticsearch", _sketch(0.02)),
        ("poisson|exponential(?:ly)?|random arrivals|memoryless", {"arrivals": "poisson"}),
        ("at[- ]least[- ]once|duplicates?|redeliver\\w*|qos ?1|subscribers?|fan-?out|broadcast",
         {"delivery": "at-least-once"}),
        ("(?:sd|deviation|spread|error|\\+/-|±)[^.;]*\\b(?:over|across|between|of)\\b[^.;]*\\b"
         "(?:runs?|trials?|repeats?|repetitions?|iterations?|forks?)", {"spread": "runs"}),
    )
)  # fmt: skip


def method_of(row: Row, file: AuditFile) -> Method:
    """What is known of how the row's figures came about; a field is None where nothing says."""
    words = _from_words(file.stated)
    found: dict[str, Any] = {}
    for name in Method.model_fields:
        for value in (getattr(row, name), getattr(file.stated, name), words.get(name)):
            if value is not None:
                found[name] = value
                break
    return Method.model_construct(None, **found)


def _words(stated: Stated) -> str:
    return ". ".join((stated.tool or "", stated.aggregate or "", stated.network or "", *stated.notes))


@lru_cache(maxsize=64)
def _from_words(stated: Stated) -> dict[str, Any]:
    text = _words(stated)
    found: dict[str, Any] = {}
    for pattern, facts in WORDS:
        if _says(pattern, text):
            for name, value in facts.items():
                found.setdefault(name, value)
    return found


_BREAK = re.compile(r"(?i)[.;:!?()]\s|\b(?:but|however|instead|whereas|while|yet|then)\b")
_NEGATION = re.compile(
    r"(?i)\b(?:no|not|never|neither|nor|none|cannot|without|\w+n['’]t|disabl\w+|avoid\w*|turned off)\b(?! only)"
)
_NEGATED_AFTER = re.compile(
    r"(?i)\W*(?:\w+\W+){0,3}?(?:(?:not|never|nowhere)\b|\w+n['’]t\b|disabled\b|off\b|unused\b|avoided\b)"
)


def _says(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has such words without denying them in the same clause: "not pipelined", "batches were off"."""
    return any(not _is_denied(text, match) for match in pattern.finditer(text))


def _is_denied(text: str, match: re.Match[str]) -> bool:
    before = _BREAK.split(text[: match.start()])[-1]
    after = _BREAK.split(text[match.end() :])[0]
    return _NEGATION.search(before) is not None or _NEGATED_AFTER.match(after) is not None


_SEVERAL_AT_ONCE = re.compile(
    r"(?i)\b(?:pipelin\w*|multiplex\w*|streams|batch\w*|in[- ]flight|async\w*)\b|\s-[pPm] ?\d+"
)


def depth_unknown(row: Row, file: AuditFile) -> bool:
    """Whether the file's words speak of several requests at once on a connection, and the row does not say how many."""
    return row.batch is None and _says(_SEVERAL_AT_ONCE, _words(file.stated))


_SEVERAL_RUNS = re.compile(
    r"(?i)\b(?:(?:[2-9]|\d\d+|two|three|four|five|six|seven|eight|nine|ten|several|multiple|many|all|different|"
    r"separate)\s+(?:\w+\s+)?(?:runs|trials|repeats|repetitions|iterations|rounds|forks)|"
    r"(?:over|across|of|between)\s+(?:the\s+)?(?:runs|trials|repeats|repetitions|iterations|forks)|"
    r"(?:another|separate|second|different) (?:run|trial))\b"
)


def of_several_runs(row: Row, file: AuditFile) -> bool:
    """Whether the publication says that figures were put together over runs, or come from different ones."""
    stated = file.stated
    if method_of(row, file).spread == "runs" or (stated.repeats or 1) > 1 or stated.aggregate is not None:
        return True
    return _says(_SEVERAL_RUNS, _words(stated))
