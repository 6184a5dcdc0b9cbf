"""The page's colours, light and dark, as CSS custom properties; charts name them as `var(--name)`.

One place, so that a stack has one colour in every chart and table, and a change of theme changes all at once. The
series keep a contrast of at least 3:1 with their background (WCAG 2.2, 1.4.11) and text 4.5:1 (1.4.3); a test holds
them to it. Yellow and sky blue of the usual colour-blind palette (Okabe and Ito, 2008) vanish on white and orange is
too pale, so the hues are theirs and the lightness is ours, another for each theme. Beyond eight, line styles differ.
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
    "floor-ping": "#7b8794",
    "floor-tcp": "#4a5563",
    "series-0": "#0b62a8",
    "series-1": "#c2470c",
    "series-2": "#0a7a55",
    "series-3": "#a33d8b",
    "series-4": "#8a6400",
    "series-5": "#3d4a5c",
    "series-6": "#7a5ae0",
    "series-7": "#d0225f",
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
    "floor-ping": "#7f8b99",
    "floor-tcp": "#b4bfcc",
    "series-0": "#64b0f4",
    "series-1": "#ff9559",
    "series-2": "#4cc79a",
    "series-3": "#e592d3",
    "series-4": "#dcb04a",
    "series-5": "#c3cfde",
    "series-6": "#a594ff",
    "series-7": "#ff7d9f",
}

SERIES = 8
DASHES = ("solid", "dash", "dot", "dashdot")


def series(number: int) -> str:
    """The colour of the stack with this number."""
    return f"var(--series-{number % SERIES})"


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
