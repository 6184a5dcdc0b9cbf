"""Whose the spread between cells is, in words, for terminal, report and answer alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.shares.find import (
    QUESTION,
    Entry,
    LeftOut,
    Medians,
    Quantity,
    Share,
    Shares,
    Spread,
    Standing,
)
from orchestrator.statistics.terms import Interval
from orchestrator.wording.reasons import clause
from orchestrator.wording.table import Table, text_table

TITLES: dict[str, str] = {
    "protocol": "protocol",
    "responder": "responder's language",
    "requester": "requester's language",
}
"""What each factor is called in running text."""

QUANTITIES: dict[Quantity, str] = {
    "median": "median latency",
    "throughput": "requests a second",
    "responder_cpu": "CPU time of the responder",
    "requester_cpu": "CPU time of the requester",
}


NOTE = (
    "A share is what an effect makes of the variance between the cells' mean logs, corrected for what trials differ by"
    " chance, with its 95 % interval over blocks. The effects add up to 100 %. They are of these implementations of these"
    " languages."
)
CHANGES = (
    "A change of a factor: the usual ratio between two of its levels, whatever the others; behind a language's, whether it"
    " goes further than a change of the protocol (more, less, or not resolved). SD between cells: how far one cell usually"
    " lies from another, as a factor. Chance: of all that single trials differ by, what they differ by from block to block."
)
BRACKETS = "In brackets: a cell that no share counts."
_PLURALS = {"protocol": "protocols", "responder": "languages that answer", "requester": "languages that ask"}


def title(share: Share) -> str:
    """Return `responder's language`, or of an interaction `protocol × responder`."""
    return TITLES[share.factors[0]] if len(share.factors) == 1 else " × ".join(share.factors)


def sentences(shares: Shares) -> tuple[str, ...]:
    """Return ways to say whose the spread between the median latencies is, the longest first."""
    spread = shares.of_latency
    if spread.why_not:
        return ()
    verdict = _verdict(spread)
    alone = sorted((share for share in spread.shares if len(share.factors) == 1), key=lambda share: -share.share)
    parts = [f"the {title(share)} {'' if place else 'carries '}{_told(share)}" for place, share in enumerate(alone)]
    if spread.interactions is not None:
        parts.append(f"their interactions {_told(spread.interactions)}")
    carried = f"of the spread between the median latencies of {matrix(shares)}, {quantities.listed(parts)}"
    first = f"{verdict}: {carried}" if verdict else carried
    return (f"{first[0].upper()}{first[1:]}.", *([f"{verdict[0].upper()}{verdict[1:]}."] if verdict else []))


def _verdict(spread: Spread) -> str:
    """Whether a language does more than the protocol, as the beginning of a sentence; empty where not both vary."""
    asked = {change.factor: change.beyond for change in spread.changes if change.beyond is not None}
    if not asked:
        return ""
    standings = set(asked.values())
    if len(standings) == 1 and len(asked) > 1:
        said = _AT_BOTH_ENDS[standings.pop()]
    else:
        said = "; ".join(f"the {TITLES[name]} {_AGAINST[of]}" for name, of in asked.items())
    far = sorted(spread.changes, key=lambda change: -change.times)
    return f"{said} (a change of {quantities.listed([f'the {TITLES[c.factor]} {quantities.ratio(c.times)}' for c in far])})"


_AT_BOTH_ENDS: dict[Standing, str] = {
    "more": "at both ends language matters more than protocol",
    "less": "protocol matters more than the language of either end",
    "not resolved": "whether language or protocol matters more is not resolved at either end",
}
_AGAINST: dict[Standing, str] = {
    "more": "matters more than the protocol",
    "less": "matters less than the protocol",
    "not resolved": "may matter more than the protocol or less, which is not resolved",
}


def matrix(of: Shares) -> str:
    """How large the part is that shares are of: `2 protocols × 3 languages that answer × 3 languages that ask`."""
    return " × ".join(f"{len(factor.levels)} {_PLURALS[factor.name]}" for factor in of.factors)


def heads(of: Shares) -> tuple[str, ...]:
    """Of the table of shares: the effect, then every quantity."""
    return ("share of the spread", *(QUANTITIES[spread.quantity] for spread in of.spreads))


def rows(of: Shares) -> list[tuple[str, ...]]:
    """The effects, main effects first; then several together, how far cells lie apart, and what single trials differ by."""
    known = next((spread.shares for spread in of.spreads if spread.shares), ())

    def row(head: str, text: Callable[[Spread], str]) -> tuple[str, ...]:
        return (head, *("-" if spread.why_not else text(spread) for spread in of.spreads))

    found = [
        (title(share), *("-" if spread.why_not else _told(spread.shares[place]) for spread in of.spreads))
        for place, share in enumerate(known)
    ]
    if known:
        found.append(row("all interactions", lambda spread: _or_dash(spread.interactions)))
    if any(spread.languages for spread in of.spreads):
        found.append(row("both languages together", lambda spread: _or_dash(spread.languages)))
    if known:
        factors = dict.fromkeys(change.factor for spread in of.spreads for change in spread.changes)
        found += [
            (f"a change of the {TITLES[name]}", *(_changed(spread, name) for spread in of.spreads)) for name in factors
        ]
        found.append(row("SD between cells", _apart))
        found.append(row("chance, of single trials", _noise))
    found.append(("blocks", *(str(spread.blocks) for spread in of.spreads)))
    return found


def whys(of: Shares) -> tuple[str, ...]:
    """What cannot be told, and why, a sentence for each quantity."""
    by_why: dict[str, list[str]] = {}
    for spread in of.spreads:
        if spread.why_not:
            by_why.setdefault(spread.why_not, []).append(QUANTITIES[spread.quantity])
    return tuple(f"Insufficient data for {quantities.listed(names)}: {why}." for why, names in by_why.items())


def left_out(of: Shares) -> tuple[str, ...]:
    """Which cells no share counts, a sentence for each reason."""
    stacks: dict[str, list[str]] = {}
    for left in of.left_out:
        stacks.setdefault(_why(left), []).append(left.stack)
    return tuple(f"Left out: {quantities.listed(labels)}: {why}." for why, labels in stacks.items())


def _why(left: LeftOut) -> str:
    if left.reason:
        return clause(left.reason, {})
    if left.instead:
        return f"{left.instead} stands for its languages"
    if left.gaps:
        levels = " and ".join(f"{TITLES[name]} {level}" for name, level in left.gaps)
        return f"not every cell with {levels} is there"
    return "the language of its responder is not known"


def medians_heads(of: Medians) -> tuple[str, ...]:
    """Who asks stands below, who answers across."""
    return ("asks, below; answers, across", *(f"{language} ({name})" for language, name in of.responders))


def medians_rows(of: Medians, unit: quantities.Unit) -> list[tuple[str, ...]]:
    """A row for each requester's language."""
    return [
        (f"{language} ({name})", *(entry_text(entry, unit) for entry in row))
        for (language, name), row in zip(of.requesters, of.rows, strict=True)
    ]


def entry_text(entry: Entry | None, unit: quantities.Unit) -> str:
    """A median; in brackets where no share counts it."""
    if entry is None or entry.median is None:
        return "-"
    text = unit.text(entry.median)
    return text if entry.is_counted else f"({text})"


def has_brackets(of: Shares) -> bool:
    """Whether a median stands in brackets."""
    entries = [entry for medians in of.medians for row in medians.rows for entry in row if entry and entry.median]
    return not all(entry.is_counted for entry in entries)


def unit_of(of: Shares) -> quantities.Unit:
    """The unit of all medians of a setting."""
    entries = [entry for medians in of.medians for row in medians.rows for entry in row if entry]
    return quantities.unit_for(entry.median for entry in entries if entry.median is not None)


def bounds(interval: Interval) -> str:
    """`48 to 61 %`."""
    low, high = (quantities.percent(value) for value in interval)
    return f"{low.removesuffix(' %')} to {high}"


def _told(of: Share) -> str:
    return f"{quantities.percent(of.share)} ({bounds(of.interval)})"


def _or_dash(of: Share | None) -> str:
    return "-" if of is None else _told(of)


def _changed(spread: Spread, name: str) -> str:
    """`2.10× (1.95 to 2.27)`, and of a language whether that is more than a change of the protocol does."""
    change = next((change for change in spread.changes if change.factor == name), None)
    if change is None:
        return "-"
    low, high = quantities.bounds(change.interval)
    text = f"{quantities.factor(change.times)}× ({low} to {high})"
    return f"{text}: {change.beyond}" if change.beyond else text


def _apart(spread: Spread) -> str:
    if spread.apart is None or spread.apart_interval is None:
        return "-"
    low, high = quantities.bounds(spread.apart_interval)
    return f"{quantities.factor(spread.apart)}× ({low} to {high})"


def _noise(spread: Spread) -> str:
    if spread.noise is None or spread.noise_interval is None:
        return "-"
    return f"{quantities.percent(spread.noise)} ({bounds(spread.noise_interval)})"


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return for each setting a table of shares, and the medians of each protocol."""
    return tuple(table for shares in QUESTION.of(summary) for table in _tables(shares))


def _tables(shares: Shares) -> Iterator[Table]:
    unit, brackets = unit_of(shares), (BRACKETS,) if has_brackets(shares) else ()
    has_changes = any(spread.changes for spread in shares.spreads)
    if any(spread.shares for spread in shares.spreads):
        title = f"language and protocol · {shares.setting}"
        yield text_table(title, heads(shares), rows(shares), (NOTE, CHANGES) if has_changes else (NOTE,))
    for medians in shares.medians:
        title = f"median, {unit.name}, {medians.protocol} · {shares.setting}"
        notes = (*whys(shares), *left_out(shares), *brackets)
        yield text_table(title, medians_heads(medians), medians_rows(medians, unit), notes)
