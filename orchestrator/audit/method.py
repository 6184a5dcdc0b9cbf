"""How a row's figures came about: what its row, the file, and the file's words say, in that order.

Publications seldom have a field for it; they write "Poisson arrivals" or "measured with Locust". Such words only ever
count in a publication's favour: they widen what a figure may honestly be.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import Any

from orchestrator.audit.model import AuditFile, Method, Percentiles, Row, Stated

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
        # sysbench sorts latencies into 1,024 logarithmic buckets from 1 us to 100 s, 1.8 % wide (sb_histogram.c).
        ("sysbench", _sketch(0.019)),
        ("artillery", _sketch(0.01)),  # a DDSketch beside exact extremes
        ("ycsb|memtier\\w*|redis-benchmark|autocannon|cassandra-stress", _sketch(0.001)),  # HDR histograms
        ("cloudwatch", _sketch(0.1)),
        # siege prints seconds with two decimals.
        ("siege", {"resolution_ms": 10.0}),
        ("tenths of a second|seconds (?:with|to|of) (?:one|1) decimal\\w*", {"resolution_ms": 100.0}),
        ("hundredths of a second|seconds (?:with|to|of) (?:two|2) decimals\\w*", {"resolution_ms": 10.0}),
        ("whole seconds|full seconds", {"resolution_ms": 1000.0}),
        ("whole milliseconds|milliseconds without decimals", {"resolution_ms": 1.0}),
        # Goose keeps one digit from 500 ms on, and tens from 100 ms on.
        ("goose", {"percentiles": Percentiles(digits=1)}),
        ("averaged (?:over|across) (?:\\S+ ){0,3}(?:hosts|nodes|pods|instances|servers|replicas|intervals|windows|minutes)|"
         "(?:averages?|means?|medians?|maxima|maximum) of (?:\\S+ ){0,5}percentiles|averag\\w+ (?:the )?percentiles|"
         "percentiles (?:are|were) averag\\w+", {"percentiles": Percentiles(source="averaged")}),
        # Locust keys response times by two significant digits from 100 ms on (log_response_time in stats.py).
        ("locust", {"percentiles": Percentiles(digits=2)}),
        ("k6", {"connecting": "excluded"}),
        ("exclud(?:es?|ing) (?:the )?connect\\w*|without connecting", {"connecting": "excluded"}),
        ("prometheus|histogram_quantile|grafana|opentelemetry|otel|micrometer|istio|fortio|(?:histogram )?buckets?|"
         "interpolated", _HISTOGRAM),
        ("hdr\\w*", _sketch(0.001)),
        ("gatling|ddsketch|datadog", _sketch(0.01)),
        ("t-?digest|vegeta|elasticsearch", _sketch(0.02)),
        ("poisson|exponential(?:ly)?|random arrivals|memoryless", {"arrivals": "poisson"}),
        ("at[- ]least[- ]once|duplicates?|redeliver\\w*|qos ?1|subscribers?|fan-?out|broadcast",
         {"delivery": "at-least-once"}),
        ("(?:sd|deviation|spread|error|\\+/-|±)[^.;]{0,60}\\b(?:over|across|between|of)\\b[^.;]{0,30}\\b"
         "(?:runs?|trials?|repeats?|repetitions?|iterations?|forks?)", {"spread": "runs"}),
        ("0-?rtt|fast ?open|tfo|pre-?(?:opened|connect\\w*|established)|"
         "opened (?:ahead|beforehand|in advance)|pooled connections", {"handshake": "saved"}),
        ("(?<!after )(?:brotli|gzip\\w*|deflated?|zstd|snappy|lz4|compress\\w*|content-encoding)|not modified|"
         "revalidat\\w*|conditional requests?|HEAD requests?|deduplicat\\w*|delta[- ]encod\\w*|"
         "range requests?|partial content", {"compressed": True}),
        ("bond(?:ed|ing)|lacp|link aggregation|aggregated links|multipath|mptcp|teamed|dual[- ](?:port|nic|homed)|"
         "(?:two|three|four|eight|several|[2-9]) (?:\\S+ ){0,2}(?:nics|links|network (?:cards|interfaces)|"
         "(?:gbe|gbit/s|gigabit) ports)", {"links": 8}),
        # Caches of processors and discs, and warm ones, are none on the way.
        ("(?<!page )(?<!disk )(?<!disc )(?<!cpu )(?<!data )(?<!warm )(?<!cold )(?<!buffer )"
         "(?:cached|caches?|cdns?|edge|prox(?:y|ies)|gateways?|mirrors?|sidecars?|read replicas?|local replicas?|"
         "prefetch\\w*|memoi[sz]ed)(?! (?:w[ae]s|were|is|are) (?:warm|cold|hot|filled|flushed|dropped))",
         {"replies": "nearer"}),
        ("(?:fail(?:ed|ing|ures?)|errors)(?:(?! not | never )[^.;]){0,40} (?:counted|included|among)|"
         "(?:includ\\w+|count\\w*) (?:\\w+ )?(?:errors|failures|failed)|refused|rejected|rate[- ]limited|too many requests|"
         "fail\\w* (?:fast|at once|immediately)|circuit breakers?", {"failures": "counted"}),
        ("microwaves?|millimet\\w+[- ]waves?|radio|wireless|satellites?|starlink|lasers?|free[- ]space|hollow[- ]core",
         {"medium": "radio"}),
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


_BREAK = re.compile(r"(?i)[.;:!?()]\s|\b(?:but|however|instead(?! of)|whereas|while|yet|then)\b")
_NEGATION = re.compile(
    r"(?i)\b(?:no|not|never|neither|nor|none|nothing|nobody|cannot|without|"
    r"instead of|rather than|\w+n['’]t|disabl\w+|avoid\w*|turned off)\b(?! only)"
)
_NEGATED_AFTER = re.compile(
    r"(?i)\W*(?:\w+\W+){0,3}?(?:(?:not|never|nowhere)\b|\w+n['’]t\b|disabled\b|off\b|unused\b|avoided\b)"
)


def _says(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has such words without denying them in the same clause: "not pipelined", "batches were off"."""
    return any(not _is_denied(text, match) for match in pattern.finditer(text))


@lru_cache(maxsize=64)
def _breaks(text: str) -> tuple[list[int], list[int], list[int]]:
    """Where a text's clauses end, where the next one begins, and where its negations stand, each in order."""
    ends = list(_BREAK.finditer(text))
    return [m.start() for m in ends], [m.end() for m in ends], [m.start() for m in _NEGATION.finditer(text)]


def _is_denied(text: str, match: re.Match[str]) -> bool:
    ends, begins, negations = _breaks(text)
    at = bisect_right(begins, match.start())
    begin = begins[at - 1] if at else 0
    following = bisect_left(ends, match.end())
    end = ends[following] if following < len(ends) else len(text)
    negated = bisect_left(negations, begin)
    before = negated < len(negations) and negations[negated] < match.start()
    return before or _NEGATED_AFTER.match(text, match.end(), end) is not None


_SEVERAL_AT_ONCE = re.compile(
    r"(?i)\b(?:pipelin\w*|multiplex\w*|streams|batch\w*|in[- ]flight|async\w*|outstanding|non-?blocking|callbacks?|"
    r"without (?:a)?wait\w*|several (?:load )?generators)\b|\s-[pPm] ?\d+"
)


def depth_unknown(row: Row, file: AuditFile) -> bool:
    """Whether the file's words speak of several requests at once on a connection, and the row does not say how many."""
    return row.batch is None and _says(_SEVERAL_AT_ONCE, _words(file.stated))


_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10, "twelve": 12}
_CLIENTS = re.compile(
    rf"(?i)\b(\d{{1,4}}|{'|'.join(_NUMBERS)}) (?:[\w-]+ )?(?:load[- ]generators?|generators|load[- ]injectors|injectors|"
    r"client (?:machines|hosts|nodes|vms|instances|processes)|(?:wrk|k6|locust|jmeter|ghz|oha) "
    r"(?:instances|processes|workers|agents)|agents|worker (?:machines|nodes|processes))\b"
)


def clients_of(row: Row, file: AuditFile) -> int:
    """How many load generators a row's rate is the sum of; one where nothing says.

    A concurrency is stated for each of them as often as for all: their number times as many may be in flight.
    """
    if known := method_of(row, file).clients:
        return known
    text = _words(file.stated)
    found = [m for m in _CLIENTS.finditer(text) if not _is_denied(text, m)]
    return max((_NUMBERS.get(m[1].lower()) or int(m[1]) for m in found), default=1) or 1


def corrected_apart(row: Row, file: AuditFile) -> bool:
    """Whether latencies were corrected for coordinated omission by something that may leave mean or SD as they were.

    wrk and wrk2 correct their one histogram before they print anything from it: its figures still belong together.
    """
    return bool(method_of(row, file).corrected) and not _says(_WRK, _words(file.stated))


_WRK = re.compile(r"(?i)\bwrk2?\b")

_SEVERAL_RUNS = re.compile(
    r"(?i)\b(?:(?:[2-9]|\d\d+|two|three|four|five|six|seven|eight|nine|ten|several|multiple|many|all|different|"
    r"separate)\s+(?:\w+\s+)?(?:runs|trials|repeats|repetitions|iterations|rounds|forks)|"
    r"(?:over|across|of|between)\s+(?:the\s+)?(?:runs|trials|repeats|repetitions|iterations|forks)|"
    r"(?:another|separate|second|different) (?:run|trial))\b"
)


def of_several_runs(row: Row, file: AuditFile) -> bool:
    """Whether the publication says that figures were put together over runs, or come from different ones."""
    stated = file.stated
    method = method_of(row, file)
    if method.percentiles is not None and method.percentiles.source == "averaged":
        return True
    if method.spread == "runs" or (stated.repeats or 1) > 1 or stated.aggregate is not None:
        return True
    return _says(_SEVERAL_RUNS, _words(stated))
