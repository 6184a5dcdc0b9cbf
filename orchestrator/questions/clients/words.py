"""What of a latency is the client's, in words and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.clients.find import QUESTION, ClientShare
from orchestrator.statistics.terms import Interval
from orchestrator.wording.reasons import clause
from orchestrator.wording.tables.table import Table, text_table

HEADS = (
    "Stack",
    "Asked",
    "Client",
    "Median",
    "Native client",
    "Its median",
    "Difference",
    "Client's share of its median",
    "Against native",
)


NOTE = (
    "A client's share is what its median has above that of the native client, asked alike in the same blocks; below zero for"
    " a client that is quicker. It follows, with its interval, from the ratio of the two, and holds the client library with"
    " the interpreter that it runs in."
)


_LEAST_SHARE = -10.0  # below it an interval only says that next to nothing is known


def sentence(shares: Sequence[ClientShare]) -> str:
    """Return what of each stack's latency is the client's; empty without a native client to compare with."""
    by_stack: dict[tuple[str, str], dict[str, list[ClientShare]]] = {}
    for share in shares:
        by_stack.setdefault((share.stack, share.native), {}).setdefault(share.client, []).append(share)
    clauses = [
        f"{stack} against {native}: {', '.join(f'{client} {_range(of)}' for client, of in clients.items())}"
        for (stack, native), clients in by_stack.items()
    ]
    return f"The client's own share of the median latency: {'; '.join(clauses)}." if clauses else ""


def rows(shares: Sequence[ClientShare]) -> list[tuple[str, ...]]:
    """Return a row of texts for each, under `HEADS`."""
    return [
        (
            share.stack,
            share.setting,
            share.client,
            _time(share.median, share.median_interval),
            share.native,
            _time(share.native_median, share.native_median_interval),
            _difference(share),
            _share_text(share),
            f"{share.standing}: {_why(share)}" if share.share_interval is None and share.reason else share.standing,
        )
        for share in shares
    ]


def _why(share: ClientShare) -> str:
    return clause(share.reason, {share.cell: share.client, share.native_cell: share.native}) if share.reason else ""


def _range(shares: Sequence[ClientShare]) -> str:
    if len(shares) == 1:
        return _share_text(shares[0]) if shares[0].share is not None else f"not known ({_why(shares[0])})"
    known = sorted(share.share for share in shares if share.share is not None)
    if not known:
        return "not known"
    count = str(len(shares)) if len(known) == len(shares) else f"{len(known)} of {len(shares)}"
    return f"{_between(known[0], known[-1])} in {count} settings"


def _share_text(share: ClientShare) -> str:
    if share.share is None:
        return "-"
    return quantities.percent(share.share) + (f" ({_between(*share.share_interval)})" if share.share_interval else "")


def _between(low: float, high: float) -> str:
    first, last = quantities.percent(low), quantities.percent(high)
    if low < _LEAST_SHARE:
        first = f"under {_LEAST_SHARE * 100:,.0f} %"
    return first if first == last else f"{first.removesuffix(' %')} to {last}"


def _difference(share: ClientShare) -> str:
    """In time, as the share: no further below 0 than an interval says anything."""
    if share.share_interval is None or share.share_interval[0] >= _LEAST_SHARE or not share.median:
        return _time(share.difference, share.difference_interval)
    high = quantities.ms((share.difference_interval or share.share_interval)[1])
    return f"{_time(share.difference, None)} (under {quantities.ms(_LEAST_SHARE * share.median)} to {high})"


def _time(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    return quantities.ms(value) + (f" ({' to '.join(map(quantities.ms, interval))})" if interval else "")


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what each client adds to what a native one takes, a row for each cell."""
    found = QUESTION.of(summary)
    title = "the client's share of the latency, against a native client (95 % intervals)"
    return (text_table(title, HEADS, rows(found), (NOTE,), texts=1),) if found else ()
