"""The page's colours, light and dark, as CSS custom properties; charts name them as `var(--name)`.

One place, so that a stack has one colour in every chart and table, and a change of theme changes all at once. Yellow
and sky blue of the usual colour-blind palette vanish on white, and its black on a dark page. These eight were searched
for instead, for each theme: the smallest distance between any two (Oklab; Ottosson, 2020) is as large as it gets for
readers with full colour vision, protanopia and deuteranopia (simulated after Machado, Oliveira and Fernandes, 2009),
at a contrast of at least 3:1 with the page (WCAG 2.2, 1.4.11). A test holds them to both. Beyond eight, line styles differ.
"""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "raised": "#f6f7f9",
    "ink": "#16191d",
    "muted": "#565e6a",
    "rule": "#dfe3e8",
    "grid": "#e6e9ed",
    "link": "#0a58a6",
    "pass": "#17693a",
    "warn": "#8a5300",
    "fail": "#b3141b",
    "unsure": "#565e6a",
    "fail-soft": "#fdecec",
    "warn-soft": "#fdf3e1",
    "tie": "#e9edf3",
    "control": "#c9d3e2",
    "floor-ping": "#7b8794",
    "floor-tcp": "#4a5563",
    "series-0": "#1d57c0",
    "series-1": "#a8440f",
    "series-2": "#47835c",
    "series-3": "#760f86",
    "series-4": "#9a7b10",
    "series-5": "#0a7391",
    "series-6": "#786dd7",
    "series-7": "#840229",
}

DARK = {
    "paper": "#14171b",
    "raised": "#1c2026",
    "ink": "#e8ebef",
    "muted": "#a3adb9",
    "rule": "#323943",
    "grid": "#2a3038",
    "link": "#7db8f5",
    "pass": "#6fcf8f",
    "warn": "#e8b04a",
    "fail": "#ff8f8a",
    "unsure": "#a3adb9",
    "fail-soft": "#3a1d1e",
    "warn-soft": "#352a14",
    "tie": "#262c35",
    "control": "#3a4453",
    "floor-ping": "#7f8b99",
    "floor-tcp": "#b4bfcc",
    "series-0": "#4aa6fe",
    "series-1": "#e2935f",
    "series-2": "#25935a",
    "series-3": "#ec6fd2",
    "series-4": "#d9bb20",
    "series-5": "#94ecff",
    "series-6": "#8f6aff",
    "series-7": "#f0384a",
}

INK, MUTED, GRID, RULE = (f"var(--{name})" for name in ("ink", "muted", "grid", "rule"))
SERIES = 8
_LEAST_CONTRAST = 4.5  # of text (WCAG 2.2, 1.4.3)


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))


def _legible(colour: str, theme: dict[str, str]) -> str:
    """The colour, mixed with as much ink as a text in it needs."""
    paper, ink, own = (_channels(each) for each in (theme["paper"], theme["ink"], colour))
    for share in range(0, 101, 5):
        mixed = tuple(a + (b - a) * share / 100 for a, b in zip(own, ink, strict=True))
        light, dark = sorted((_luminance(mixed), _luminance(paper)), reverse=True)
        if (light + 0.05) / (dark + 0.05) >= _LEAST_CONTRAST + 0.1:
            return "#" + "".join(f"{round(value * 255):02x}" for value in mixed)
    return theme["ink"]


for _theme in (LIGHT, DARK):
    _theme |= {f"text-{number}": _legible(_theme[f"series-{number}"], _theme) for number in range(SERIES)}
DASHES = ("solid", "dash", "dot", "dashdot")


def series(number: int) -> str:
    """The colour of the stack with this number."""
    return f"var(--series-{number % SERIES})"


def text(number: int) -> str:
    """The colour of texts that stand for the stack with this number: its own, as dark or as light as text has to be."""
    return f"var(--text-{number % SERIES})"


def dash(number: int) -> str:
    """The line style of the stack with this number: another one for each time round the colours."""
    return DASHES[number // SERIES % len(DASHES)]


def css() -> str:
    """The custom properties for both themes; the reader's system decides unless the toggle did."""
    light, dark = (
        "".join(f"--{name}:{value};" for name, value in theme.items()) + f"color-scheme:{scheme}"
        for theme, scheme in ((LIGHT, "light"), (DARK, "dark"))
    )
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
