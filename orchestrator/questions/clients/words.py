"""What of a latency is the client's, in words and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.summary import Interval, RunSummary
from orchestrator.analysis.table import Table, text_table
from orchestrator.questions.clients.find import QUESTION, ClientShare

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
    """What of each stack's latency is the client's, in one sentence; empty without a native client to hold it against."""
    by_stack: dict[tuple[str, str], dict[str, list[ClientShare]]] = {}
    for of in shares:
        by_stack.setdefault((of.stack, of.native), {}).setdefault(of.client, []).append(of)
    clauses = [
        f"{stack} against {native}: {', '.join(f'{client} {_told(of)}' for client, of in clients.items())}"
        for (stack, native), clients in by_stack.items()
    ]
    return f"The client's own share of the median latency: {'; '.join(clauses)}." if clauses else ""


def rows(shares: Sequence[ClientShare]) -> list[tuple[str, ...]]:
    """A row of texts for each, under `HEADS`."""
    return [
        (
            of.stack,
            of.setting,
            of.client,
            _time(of.median, of.median_interval),
            of.native,
            _time(of.native_median, of.native_median_interval),
            _difference(of),
            _share_text(of),
            f"{of.standing}: {of.why}" if of.share_interval is None and of.why else of.standing,
        )
        for of in shares
    ]


def _told(of: Sequence[ClientShare]) -> str:
    if len(of) == 1:
        return _share_text(of[0]) if of[0].share is not None else f"not known ({of[0].why})"
    known = sorted(one.share for one in of if one.share is not None)
    if not known:
        return "not known"
    if len(known) < len(of):
        return f"{_between(known[0], known[-1])} in {len(known)} of {len(of)} settings"
    return f"{_between(known[0], known[-1])} in {len(of)} settings"


def _share_text(of: ClientShare) -> str:
    if of.share is None:
        return "-"
    return words.percent(of.share) + (f" ({_between(*of.share_interval)})" if of.share_interval else "")


def _between(low: float, high: float) -> str:
    first, last = words.percent(low), words.percent(high)
    if low < _LEAST_SHARE:
        first = f"under {_LEAST_SHARE * 100:,.0f} %"
    return first if first == last else f"{first.removesuffix(' %')} to {last}"


def _difference(of: ClientShare) -> str:
    """In time, as the share: no further below 0 than an interval says anything."""
    if of.share_interval is None or of.share_interval[0] >= _LEAST_SHARE or not of.median:
        return _time(of.difference, of.difference_interval)
    high = words.ms((of.difference_interval or of.share_interval)[1])
    return f"{_time(of.difference, None)} (under {words.ms(_LEAST_SHARE * of.median)} to {high})"


def _time(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    return words.ms(value) + (f" ({' to '.join(map(words.ms, interval))})" if interval else "")


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what each client adds to what a native one takes, a row for each cell."""
    found = QUESTION.of(summary)
    title = "the client's share of the latency, against a native client (95 % intervals)"
    return (text_table(title, HEADS, rows(found), (NOTE,), texts=1),) if found else ()
