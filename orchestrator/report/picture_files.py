"""The pictures of a run as files of their own: SVG, and PNG where a browser is there to draw it.

An SVG has the colours of a theme as numbers, a ground, and its title in the picture, so that it looks alike in a document,
in a word processor and in a browser. Pictures travel alone, so what no reader may miss, an emulated distance say, is in
each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Literal

from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.words import listed
from orchestrator.disk import full, is_full, whole_file
from orchestrator.errors import UsageError
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.report import palette
from orchestrator.report.charts import MOST_OF_A_KIND, Pictured, charts
from orchestrator.report.every_page import marks
from orchestrator.report.groups import anchor, cell_colours, compared, groups
from orchestrator.report.page import shown
from orchestrator.report.static.drawing import WIDTH_PX
from orchestrator.report.static.svg import element, text

Draw = Callable[[Path, Path, int, int], str]
"""Draws an SVG as a PNG so many pixels wide and high; says why where it cannot."""
Theme = Literal["light", "dark"]
_ENDINGS: dict[Theme, str] = {"light": "", "dark": "-dark"}
_COLOURS: dict[Theme, dict[str, str]] = {"light": palette.LIGHT, "dark": palette.DARK}
_TIMES = 2  # as large as in the page
_PAD_PX = 8
_LINE_PX = 16
_LETTERS = 52
_COLOUR = re.compile(r"(?<==\")var\(--([a-z0-9-]+)\)(?=\")")  # an attribute's value: texts may say what they like
_BOX = re.compile(r"class=\"static\" viewBox=\"0 0 (\d+) (\d+)\"")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written, why there is no PNG of what, and which pictures the page alone has; empty where it has no more."""

    files: tuple[Path, ...]
    troubles: tuple[str, ...] = ()
    left_out: str = ""


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """SVG by the name of its file, and which pictures of the page are not among them, in words."""

    by_name: dict[str, str]
    left_out: str


def pictures(summary: RunSummary, themes: Sequence[Theme] = ("light",)) -> Pictures:
    """The charts of a report in each theme; a dark one's name ends in `-dark.svg`. Of very many of a kind, some."""
    found = groups(summary)
    colours = cell_colours(found, summary)
    drawn, left_out = charts(summary, found, compared(found, summary), colours).for_files()
    said = marks(summary)
    by_name = {
        f"{anchor(each.figure.slug)}{_ENDINGS[theme]}.svg": alone(each, said, theme)
        for theme in themes
        for each in drawn
    }
    where = "of single rates that were tried" if CAPACITY.of(summary).rates else f"beyond {MOST_OF_A_KIND} of a kind"
    kinds = listed([f"{number:,} of {kind}" for kind, number in left_out.items()])
    return Pictures(by_name=by_name, left_out=f"left out, as they are {where}: {kinds}" if kinds else "")


def alone(pictured: Pictured, marks_said: Sequence[str] = (), theme: Theme = "light") -> str:
    """A picture as a document of its own, with what must not be missed below its title."""
    found = _BOX.search(pictured.figure.drawing)
    assert found, "every picture has a box"  # noqa: S101 - drawn by us
    high = int(found[2])
    title = wrap(pictured.title or pictured.figure.label, _LETTERS)
    warned = [line for mark in marks_said for line in wrap(mark, _LETTERS)]
    note = wrap(pictured.figure.note, _LETTERS)
    top = _PAD_PX + _LINE_PX * (len(title) + len(warned))
    below = _LINE_PX * len(note)
    whole = top + high + below + _PAD_PX
    said = [text(line, 6, _PAD_PX + 10 + place * _LINE_PX, font_weight="600") for place, line in enumerate(title)]
    said += [
        text(line, 6, _PAD_PX + 10 + place * _LINE_PX, font_weight="600", fill="var(--fail)")
        for place, line in enumerate(warned, start=len(title))
    ]
    said += [text(line, 6, top + high + 12 + place * _LINE_PX, fill="var(--muted)") for place, line in enumerate(note)]
    box = f'y="{top}" width="{WIDTH_PX}" height="{high}" viewBox="0 0 {WIDTH_PX} {high}"'
    document = element(
        "svg",
        element("rect", width=WIDTH_PX, height=whole, fill="var(--paper)"),
        *said,
        _BOX.sub(box, str(pictured.figure.drawing), count=1),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH_PX} {whole}",
        width=WIDTH_PX * _TIMES,
        height=whole * _TIMES,
        font_family="system-ui, sans-serif",
        font_size=12,
        fill="var(--ink)",
    )
    return shown(_COLOUR.sub(lambda name: _COLOURS[theme][name[1]], document)) + "\n"


def write_pictures(
    summary: RunSummary,
    folder: Path,
    draw: Draw | None,
    told: Callable[[str], None] = lambda _: None,
    themes: Sequence[Theme] = ("light",),
) -> Written:
    """Write every picture in each theme into `folder`, which is made; PNGs by `draw`, where there is one.

    UsageError when the folder cannot be written to, MissingError when the disk is full. Files of the same names are
    replaced, others left alone.
    """
    files: list[Path] = []
    troubles: list[str] = []
    found = pictures(summary, themes)
    documents = found.by_name
    try:
        for number, (name, document) in enumerate(documents.items(), start=1):
            told(f"picture {number} of {len(documents)}: {name}")
            path = folder / name
            with whole_file(path) as partial:
                partial.write_text(document, encoding="utf-8")
            files.append(path)
            if draw is not None and not troubles:
                png = path.with_suffix(".png")
                high = int(_height(document))
                trouble = draw(path, png, WIDTH_PX * _TIMES, high)
                if trouble:
                    troubles.append(f"{png.name}: {trouble}; the other PNGs were not tried")
                else:
                    files.append(png)
    except OSError as error:
        if is_full(error):
            raise full(folder, "draw them again", kept="") from error
        raise UsageError(
            f"{folder}: cannot be written to: {error.strerror}", hint="name another folder with --pictures"
        ) from error
    return Written(files=tuple(files), troubles=tuple(troubles), left_out=found.left_out)


def _height(document: str) -> str:
    found = re.search(r"height=\"(\d+)\" font", document)
    return found[1] if found else "800"
