"""A page taken apart into what it says and where, so that two of them can be compared and a difference can be named."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from html.parser import HTMLParser
from io import BytesIO
from typing import Any, TypeAlias

from orchestrator.report import in_text

_VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "col", "line", "path", "circle", "rect"})
_HEADS = ("h1", "h2", "h3")
_RAW = ("script", "style")
_CHART = "application/gzip"
_MOST_CHART_BYTES = 1 << 26
_SAME = 1e-9  # of numbers behind charts and texts: processors differ in the last digit of a logarithm
_SHOWN = 120
_SPOKEN = ("alt", "aria-label", "title")
_BY_SCRIPT = frozenset({"theme", "open-all", "js-plotly-tester"})  # ids of what the page's script changes or adds
_WRITTEN = (["live"], ["stacked"])  # classes of what it fills, beside each `output`
_SPACES = re.compile(r"[ \t\r\n\f]+")
_MOST_ALIGNED = 4_000  # parts between the first difference and the last one that are put side by side


Key: TypeAlias = tuple[str, str, int]
"""Of a figure: the id of its row, its column, and which of the numbers in that cell it is."""


@dataclass(frozen=True)
class Said:
    """One part of a page: a tag, a text, a chart's data. `where`: the section, the row and the column that it stands in."""

    kind: str
    what: Any
    where: str
    row: str = ""  # the id of the table's row
    column: str = ""
    is_made: bool = False  # by the page's script, in a file that a browser saved


@dataclass(frozen=True)
class Difference:
    """What a page says that its samples do not; `shown` or `recomputed` is empty where one of them has nothing there."""

    where: str
    shown: str
    recomputed: str

    def __str__(self) -> str:
        shown = f"shown {self.shown}" if self.shown else "nothing is shown"
        return f"{self.where}: {shown}, recomputed {self.recomputed or 'nothing'}"


def differences(shown: str, recomputed: str) -> list[Difference]:
    """Every part in which two pages differ, in the order of the page."""
    return _compared(_parts(shown), _parts(recomputed))


def texts_differ(saved: str, recomputed: str) -> list[Difference]:
    """What a page that a browser saved says otherwise: texts, labels and charts' data, not what the page's script made."""
    return _compared(list(_read(_parts(saved))), list(_read(_parts(recomputed))))


def _read(page: list[Said]) -> Iterator[Said]:
    """What of a page is read, whatever its tags are: its texts, what a screen reader says of pictures, charts' data."""
    for said in page:
        if said.is_made:
            continue
        if said.kind == "text" and said.what.strip():
            yield replace(said, what=said.what.strip())
        elif said.kind == "chart":
            yield said
        elif said.kind == "tag" and said.what[0] != "button":  # the script names its buttons
            for name, value in said.what[1]:
                if name in _SPOKEN:
                    yield replace(said, kind="label", what=value)


def _compared(one: list[Said], other: list[Said]) -> list[Difference]:
    first = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if not _is_same(a, b)), None)
    if first is None:
        first = min(len(one), len(other))
        if len(one) == len(other):
            return []
    last = 0
    while last < min(len(one), len(other)) - first and _is_same(one[-1 - last], other[-1 - last]):
        last += 1
    mine, theirs = one[first : len(one) - last], other[first : len(other) - last]
    if len(mine) == len(theirs):
        return [_difference(a, b) for a, b in zip(mine, theirs, strict=True) if not _is_same(a, b)]
    if max(len(mine), len(theirs)) <= _MOST_ALIGNED:
        return list(_aligned(mine, theirs))
    others = Difference(
        f"{mine[0].where if mine else theirs[0].where}, and below", "other parts", "those of the samples"
    )
    return [*_of_figures(_figures(one), _figures(other)), others]


def figures_differ(shown: str, recomputed: str) -> list[Difference]:
    """The figures of cells in which two pages differ that need not be of one program: those that both have."""
    return _of_figures(_figures(_parts(shown)), _figures(_parts(recomputed)))


def _of_figures(one: dict[Key, Said], other: dict[Key, Said]) -> list[Difference]:
    both = [key for key in one if key in other]
    return [
        Difference(other[key].where, one[key].what, other[key].what) for key in both if one[key].what != other[key].what
    ]


def figure_count(shown: str, recomputed: str) -> int:
    """How many figures `figures_differ` compares."""
    return len(_figures(_parts(shown)).keys() & _figures(_parts(recomputed)).keys())


def _figures(page: list[Said]) -> dict[Key, Said]:
    found: dict[Key, Said] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for said in page:
        if said.kind == "text" and said.row.startswith("cell-") and any(char.isdigit() for char in said.what):
            place = said.row, said.column
            found[*place, seen[place]] = replace(said, what=" ".join(said.what.split()))
            seen[place] += 1
    return found


def _aligned(mine: list[Said], theirs: list[Said]) -> Iterator[Difference]:
    one, other = ([(of.kind, repr(of.what)) for of in parts] for parts in (mine, theirs))
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for number in range(max(b - a, d - c)):
            shown = mine[a + number] if a + number < b else None
            expected = theirs[c + number] if c + number < d else None
            if shown is None or expected is None or not _is_same(shown, expected):
                yield _difference(shown, expected)


def _difference(shown: Said | None, expected: Said | None) -> Difference:
    of = expected or shown
    where = "" if of is None else of.where
    if of is not None and of.kind == "chart":
        return Difference(f"{where}: the data of a chart", "other numbers", "those of the samples")
    return Difference(where, *_told("" if shown is None else _text(shown), "" if expected is None else _text(expected)))


def _told(one: str, other: str) -> tuple[str, str]:
    """Two texts as an error shows them: the part around the first letter that differs, if they are long."""
    if one.strip() != other.strip():
        one, other = one.strip(), other.strip()
    else:  # they differ by a space alone
        one, other = (repr(text) if text else "" for text in (one, other))
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, same - _SHOWN // 2) if one and other and max(len(one), len(other)) > _SHOWN else 0
    first, second = (
        f"{'…' if start else ''}{text[start : start + _SHOWN]}{'…' if len(text) > start + _SHOWN else ''}"
        for text in (one, other)
    )
    return first, second


def _text(of: Said) -> str:
    return of.what if isinstance(of.what, str) else f"<{of.what[0]} {' '.join(f'{k}={v!r}' for k, v in of.what[1])}>"


def _is_same(one: Said, other: Said) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "tag" and one.what[0] == other.what[0] == "data":
        return [name for name, _ in one.what[1]] == [name for name, _ in other.what[1]] and all(
            a == b or _is_close(a, b) for (_, a), (_, b) in zip(one.what[1], other.what[1], strict=True)
        )
    if one.kind == "chart":
        return _is_near(one.what, other.what)
    return bool(one.what == other.what)


def _is_close(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=_SAME)
    except ValueError:
        return False


def _is_near(one: Any, other: Any) -> bool:
    """Whether two JSON documents are the same but for the last digits of numbers."""
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return math.isclose(one, other, rel_tol=_SAME, abs_tol=1e-12)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_near, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_near(value, other[key]) for key, value in one.items())
    return type(one) is type(other) and bool(one == other)


def _parts(page: str) -> list[Said]:
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return parser.found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Said] = []
        self._heads = dict.fromkeys(_HEADS, "")
        self._in: list[str] = []
        self._made = 0  # how deep the element lies that the page's script made, and that is read; 0 outside of any
        self._raw: str | None = None  # the type of the script or style that is read
        self._columns: list[str] = []
        self._cell = -1
        self._row = self._row_head = ""
        self._is_head = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = tuple(sorted((name, value or "") for name, value in attrs))
        if tag == "table":
            self._columns = []
        elif tag == "tr":
            self._cell, self._row_head, self._row = -1, "", dict(attributes).get("id", "")
        elif tag in ("td", "th"):
            self._cell += 1
            if self._is_head:
                self._columns.append("")
        elif tag == "thead":
            self._is_head = True
        elif tag in _HEADS:
            for lower in _HEADS[_HEADS.index(tag) :]:
                self._heads[lower] = ""
        if tag in _RAW:
            self._raw = dict(attributes).get("type", "") or tag
        if tag not in _VOID:
            self._in.append(tag)
            named = dict(attributes)
            is_made = tag == "output" or named.get("id") in _BY_SCRIPT or named.get("class", "").split()[:1] in _WRITTEN
            if self._made == 0 and is_made:
                self._made = len(self._in)
        self._say("tag", (tag, attributes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_startendtag(tag, attrs)
        self._say("closed at once", tag)  # which a browser does not do for every tag

    def handle_endtag(self, tag: str) -> None:
        if tag in self._in:
            while self._in.pop() != tag:
                pass
            if len(self._in) < self._made:
                self._made = 0
        if tag in _RAW:
            self._raw = None
        elif tag == "thead":
            self._is_head = False
        elif tag in ("tr", "table"):
            self._row = self._row_head = ""
            self._cell = -1
        self._say("end", tag)

    def handle_data(self, data: str) -> None:
        if self._raw == _CHART:
            self._say("chart", _unpacked(data))
            return
        if self._raw is not None:
            self._say("code", data.replace("\r\n", "\n"))
            return
        if text := " ".join(data.split()):
            self._head(text)
        self._say("text", _SPACES.sub(" ", data))  # that a space stands there is read, how many of them is not

    def _head(self, text: str) -> None:
        head = next((tag for tag in _HEADS if tag in self._in), None)
        if head:
            self._heads[head] = f"{self._heads[head]} {text}".strip()
        if self._is_head and self._columns:
            self._columns[-1] = f"{self._columns[-1]} {text}".strip()
        elif self._cell == 0:
            self._row_head = f"{self._row_head} {text}".strip()

    def handle_comment(self, data: str) -> None:
        self._say("comment", data)

    def handle_decl(self, decl: str) -> None:
        self._say("declaration", decl)

    def unknown_decl(self, data: str) -> None:
        self._say("declaration", data)

    def handle_pi(self, data: str) -> None:
        self._say("instruction", data)

    def _say(self, kind: str, what: Any) -> None:
        section = self._heads["h2"] or self._heads["h1"] or "the head of the page"
        names = [section, self._heads["h3"], self._row_head if self._cell > 0 else ""]
        column = self._columns[self._cell] if 0 < self._cell < len(self._columns) and not self._is_head else ""
        where = ", ".join(f"{name[:_SHOWN]}" for name in (*names, column) if name)
        self.found.append(replace(Said(kind, what, where), row=self._row, column=column, is_made=self._made > 0))


def _unpacked(text: str) -> Any:
    """A chart's data, which other versions of zlib pack into other bytes; anything else as it stands."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(in_text.read(text.strip()))) as file:
            content = file.read(_MOST_CHART_BYTES + 1)
        if len(content) > _MOST_CHART_BYTES:
            return "more than any chart holds"
    except (ValueError, OSError, EOFError, zlib.error):
        return text
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace")
