"""What several rows of a comparison doubt or note alike, so that it is said once for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHARE = re.compile(r"(\d[\d.,]*)(?: to \d[\d.,]*)? %")


def kind_of(text: str) -> str:
    """A text without its percentages: rows that differ in those alone say the same."""
    return _SHARE.sub("# %", text)


def in_all(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The texts of which every row has one of the same kind, in the order of the first; nothing of a single row.

    Where the percentages differ, the lowest and the highest are said: `waited for 80 to 98 % of a trial`.
    """
    if len(rows) < 2:
        return ()
    of_kind: dict[str, list[str]] = {}
    for row in rows:
        for kind, text in {kind_of(text): text for text in row}.items():
            of_kind.setdefault(kind, []).append(text)
    return tuple(_spanned(texts) for texts in of_kind.values() if len(texts) == len(rows))


def _spanned(texts: Sequence[str]) -> str:
    columns = list(zip(*(_SHARE.findall(text) for text in texts), strict=True))
    parts = _SHARE.sub("\0", texts[0]).split("\0")
    return parts[0] + "".join(f"{_span(column)}{part}" for column, part in zip(columns, parts[1:], strict=True))


def _span(shares: Sequence[str]) -> str:
    low, *_, high = sorted(shares, key=lambda share: float(share.replace(",", "")))
    return f"{low} %" if low == high else f"{low} to {high} %"
