"""Reading a page as a browser without JavaScript does: elements, attributes, tables, and the text that is seen."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "link", "br", "line", "img", "input"}


@dataclass
class Cell:
    """A table's cell: its text, the unrounded values of its `<data>` elements, and what is read instead of them."""

    text: str = ""
    values: list[float] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


@dataclass
class Element:
    """A start tag."""

    tag: str
    attributes: dict[str, str]


@dataclass
class Table:
    """A table: caption and rows; the first row is the head."""

    caption: str = ""
    rows: list[list[Cell]] = field(default_factory=list)

    def row(self, label: str) -> dict[str, Cell]:
        """The row whose head begins with this label, by column name."""
        head = [cell.text for cell in self.rows[0]]
        found = [row for row in self.rows[1:] if " ".join(row[0].text.split()).startswith(label)]
        assert len(found) == 1, (label, [row[0].text for row in self.rows])
        return dict(zip(head, found[0], strict=False))


class Document(HTMLParser):
    """The page, taken apart."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.tables: list[Table] = []
        self.text = ""
        self.scripts: list[tuple[dict[str, str], str]] = []
        self.unclosed: list[str] = []
        self.feed(text)
        self.close()

    @property
    def full(self) -> Table:
        """The first table of all figures; the one of the answer stands before it."""
        return next(table for table in self.tables if table.caption.startswith("all figures"))

    def all(self, tag: str) -> list[Element]:
        """Every element with this tag."""
        return [element for element in self.elements if element.tag == tag]

    def figures(self) -> dict[str, dict[str, Any]]:
        """The Plotly JSON of each chart, by the chart's id."""
        charts = [
            e.attributes["id"].removeprefix("chart-") for e in self.elements if e.attributes.get("class") == "chart"
        ]
        packed = [body for kind, body in self.scripts if kind.get("type") == "application/gzip" and "id" not in kind]
        return {
            slug: json.loads(gzip.decompress(base64.b64decode(body))) for slug, body in zip(charts, packed, strict=True)
        }

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append(Element(tag, attributes))
        if tag not in _VOID:
            self.unclosed.append(tag)
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag in {"td", "th"}:
            self.tables[-1].rows[-1].append(Cell())
        elif tag == "data" and "table" in self.unclosed:
            self.tables[-1].rows[-1][-1].values.append(float(attributes["value"]))
            self.tables[-1].rows[-1][-1].shown.append("")
        elif tag == "script":
            self.scripts.append((attributes, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed, f"</{tag}> closes nothing"
        assert self.unclosed[-1] == tag, f"</{tag}> closes <{self.unclosed[-1]}>"
        self.unclosed.pop()

    def handle_data(self, data: str) -> None:
        data = data.replace("\u00a0", " ")  # both are a blank to whoever reads
        if "script" in self.unclosed:
            kind, body = self.scripts[-1]
            self.scripts[-1] = (kind, body + data)
        elif "style" not in self.unclosed:
            self.text += data
            if "caption" in self.unclosed:
                self.tables[-1].caption += data
            elif {"td", "th"} & set(self.unclosed):
                cell = self.tables[-1].rows[-1][-1]
                cell.text += data
                if "data" in self.unclosed:
                    cell.shown[-1] += data
