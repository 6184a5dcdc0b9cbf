"""How much of the spread is the protocol's and the languages', in words: for answer, terminal and report."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.shares.find import (
    QUESTION,
    Change,
    FactorName,
    LeftOut,
    Share,
    Shares,
    Standing,
    WhyNot,
)
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval
from orchestrator.wording.reasons import clause
from orchestrator.wording.tables.table import Table, text_table

TITLES: Mapping[FactorName, str] = {
    "protocol": "protocol",
    "responder": "responder's language",
    "requester": "requester's language",
}
_PLURALS: Mapping[FactorName, str] = {
    "protocol": "protocols",
    "responder": "languages that answer",
    "requester": "languages that ask",
}
NOTE = (
    "A share is what an effect makes of the variance between the cells' mean logs, corrected for what trials differ by"
    " chance, with its 95 % interval over blocks. The effects add up to 100 %. They are of these implementations of these"
    " languages."
)
CHANGES = (
    "A change of a factor: the usual ratio between two of its levels, whatever the others; behind a language's, whether it"
    " goes further than a change of the protocol (more, less, or not resolved). SD between cells: how far one cell usually"
    " lies from another, as a factor."
)
_WHY_NOT: Mapping[WhyNot, str] = {
    "too many levels": "The matrix has too many levels to look for its largest complete part.",
    "incomplete": "No part of the matrix is complete: two factors with two levels each, and every cell of them.",
    "few blocks": f"Fewer than {FEWEST_BLOCKS} blocks have a median of every cell.",
    "not apart": "The medians of the cells do not differ significantly.",
}
_AT_BOTH_ENDS: Mapping[Standing, str] = {
    "more": "at both ends language matters more than protocol",
    "less": "protocol matters more than the language of either end",
    "not resolved": "whether language or protocol matters more is not resolved at either end",
}
_AGAINST: Mapping[Standing, str] = {
    "more": "matters more than the protocol",
    "less": "matters less than the protocol",
    "not resolved": "may matter more than the protocol or less, which is not resolved",
}


def title(share: Share) -> str:
    """Return `responder's language`, or of an interaction `protocol × responder`."""
    return TITLES[share.factors[0]] if len(share.factors) == 1 else " × ".join(share.factors)


def sentences(shares: Shares) -> tuple[str, ...]:
    """Return ways to say whose the spread between the median latencies is, the longest first."""
    if shares.why_not:
        return ()
    verdict = _verdict(shares)
    alone = sorted((share for share in shares.shares if len(share.factors) == 1), key=lambda share: -share.share)
    parts = [f"the {title(share)} {'' if place else 'carries '}{text(share)}" for place, share in enumerate(alone)]
    if shares.interactions is not None:
        parts.append(f"their interactions {text(shares.interactions)}")
    carried = f"of the spread between the median latencies of {matrix(shares)}, {quantities.listed(parts)}"
    first = f"{verdict}: {carried}" if verdict else carried
    return (f"{first[0].upper()}{first[1:]}.", *([f"{verdict[0].upper()}{verdict[1:]}."] if verdict else []))


def _verdict(shares: Shares) -> str:
    """Whether a language does more than the protocol, as the beginning of a sentence; empty where not both vary."""
    standings = {change.factor: change.beyond for change in shares.changes if change.beyond is not None}
    if not standings:
        return ""
    if len(standings) > 1 and len(set(standings.values())) == 1:
        lead = _AT_BOTH_ENDS[next(iter(standings.values()))]
    else:
        lead = "; ".join(f"the {TITLES[name]} {_AGAINST[standing]}" for name, standing in standings.items())
    far = sorted(shares.changes, key=lambda change: -change.times)
    return f"{lead} (a change of {quantities.listed([f'the {TITLES[c.factor]} {quantities.ratio(c.times)}' for c in far])})"


def matrix(shares: Shares) -> str:
    """Return how large the part is that shares are of: `2 protocols × 3 languages that answer × 3 languages that ask`."""
    return " × ".join(f"{len(levels)} {_PLURALS[name]}" for name, levels in shares.factors.items())


def notes(shares: Shares) -> tuple[str, ...]:
    """Return why there are no shares, and which cells no share counts: a sentence for each reason."""
    stacks: dict[str, list[str]] = {}
    for left in shares.left_out:
        stacks.setdefault(_why(left), []).append(left.stack)
    left_out = (f"Left out: {quantities.listed(labels)}: {why}." for why, labels in stacks.items())
    return (*([_WHY_NOT[shares.why_not]] if shares.why_not else []), *left_out)


def _why(left: LeftOut) -> str:
    if left.reason:
        return clause(left.reason, {})
    if left.instead:
        return f"{left.instead} stands for its languages"
    if left.gaps:
        levels = " and ".join(f"{TITLES[name]} {level}" for name, level in left.gaps)
        return f"not every cell with {levels} is there"
    return "the language of its responder is not known"


def bounds(interval: Interval) -> str:
    """Return `48 to 61 %`."""
    low, high = (quantities.percent(value) for value in interval)
    return f"{low.removesuffix(' %')} to {high}"


def text(share: Share) -> str:
    """Return `54 % (48 to 61 %)`."""
    return f"{quantities.percent(share.share)} ({bounds(share.interval)})"


def _change(change: Change) -> str:
    """`2.10× (1.95 to 2.27)`, and of a language whether that is more than a change of the protocol does."""
    low, high = quantities.bounds(change.interval)
    ratio = f"{quantities.factor(change.times)}× ({low} to {high})"
    return f"{ratio}: {change.beyond}" if change.beyond else ratio


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the table of each setting."""
    return tuple(map(table, QUESTION.of(summary)))


def table(shares: Shares) -> Table:
    """Return the effects with their shares, main effects first; then changes, and how far cells lie apart."""
    rows = [(title(share), text(share)) for share in shares.shares]
    if shares.interactions is not None:
        rows.append(("all interactions", text(shares.interactions)))
    rows += [(f"a change of the {TITLES[change.factor]}", _change(change)) for change in shares.changes]
    if shares.apart is not None and shares.apart_interval is not None:
        low, high = quantities.bounds(shares.apart_interval)
        rows.append(("SD between cells", f"{quantities.factor(shares.apart)}× ({low} to {high})"))
    rows.append(("blocks", str(shares.blocks)))
    return text_table(
        f"language and protocol · {shares.setting}",
        ("share of the spread", "median latency"),
        rows,
        (*notes(shares), *((NOTE, CHANGES) if shares.shares else ())),
    )
