"""How much of the spread is the protocol's and the languages', in words: for answer, terminal and report."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.shares.find import QUESTION, Change, FactorName, Share, Shares, Standing, WhyNot
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Interval
from orchestrator.wording.phrasing import capital
from orchestrator.wording.tables.table import Table, text_table

TITLES: Mapping[FactorName, str] = {
    "protocol": "protocol",
    "responder": "responder's language",
    "requester": "requester's language",
}
_PLURALS: Mapping[FactorName, str] = {
    "protocol": "protocols",
    "responder": "responder languages",
    "requester": "requester languages",
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
    "incomplete": "No part of the matrix is complete: two factors with two levels each, and every cell of them.",
    "few blocks": f"Fewer than {FEWEST_BLOCKS} blocks have a median of every cell.",
    "not apart": "The medians of the cells do not differ significantly.",
}
_AGAINST: Mapping[Standing, str] = {
    "more": "matters more than the protocol",
    "less": "matters less than the protocol",
    "not resolved": "does not differ significantly from the protocol",
}


def title(share: Share) -> str:
    """Return `responder's language`, or of an interaction `protocol × responder`."""
    return TITLES[share.factors[0]] if len(share.factors) == 1 else " × ".join(share.factors)


def sentences(shares: Shares) -> tuple[str, ...]:
    """Return how the spread between the median latencies is shared, the longer sentence first."""
    if shares.why_not:
        return ()
    parts = sorted((share for share in shares.shares if len(share.factors) == 1), key=lambda share: -share.share)
    texts = [f"{TITLES[share.factors[0]]} {text(share)}" for share in parts]
    if shares.interactions is not None:
        texts.append(f"their interactions {text(shares.interactions)}")
    carried = f"shares of the spread between the medians of {matrix(shares)}: {quantities.listed(texts)}"
    verdict = "; ".join(
        f"the {TITLES[change.factor]} {_AGAINST[change.beyond]}"
        for change in shares.changes
        if change.beyond is not None
    )
    if not verdict:
        return (f"{capital(carried)}.",)
    far = sorted(shares.changes, key=lambda change: -change.times)
    changes = quantities.listed([f"the {TITLES[c.factor]} {quantities.ratio(c.times)}" for c in far])
    verdict = f"{capital(verdict)} (a change of {changes})"
    return f"{verdict}. {capital(carried)}.", f"{verdict}."


def matrix(shares: Shares) -> str:
    """Return how large the part is that shares are of: `2 protocols × 3 responder languages × 3 requester languages`."""
    return " × ".join(f"{len(levels)} {_PLURALS[name]}" for name, levels in shares.factors.items())


def notes(shares: Shares) -> tuple[str, ...]:
    """Return why there are no shares, and which stacks no share counts."""
    left_out = f"Left out, as not every combination has valid medians: {quantities.listed(shares.left_out)}."
    return (*([_WHY_NOT[shares.why_not]] if shares.why_not else []), *([left_out] if shares.left_out else []))


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
