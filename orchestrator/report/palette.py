"""The page's colours, light and dark, as CSS custom properties; charts name them as `var(--name)`.

One place, so that a stack has one colour in every chart and table, and a change of theme changes all at once. Yellow
and sky blue of the usual colour-blind palette vanish on white, and its black on a dark page. These eight were searched
for instead, for each theme: the smallest distance between any two (Oklab; Ottosson, 2020) is as large as it gets for
readers with full colour vision, protanopia and deuteranopia (simulated after Machado, Oliveira and Fernandes, 2009),
at a contrast of at least 3:1 with the page (WCAG 2.2, 1.4.11). A test holds them to both. Beyond eight, line styles
differ.
"""

from __future__ import annotations

_COLOURS = {
    "paper": ("#ffffff", "#14171b"),
    "raised": ("#f6f7f9", "#1c2026"),
    "ink": ("#16191d", "#e8ebef"),
    "muted": ("#565e6a", "#a3adb9"),
    "rule": ("#dfe3e8", "#323943"),
    "grid": ("#e6e9ed", "#2a3038"),
    "link": ("#0a58a6", "#7db8f5"),
    "pass": ("#17693a", "#6fcf8f"),
    "warn": ("#8a5300", "#e8b04a"),
    "fail": ("#b3141b", "#ff8f8a"),
    "unsure": ("#565e6a", "#a3adb9"),
    "fail-soft": ("#fdecec", "#3a1d1e"),
    "warn-soft": ("#fdf3e1", "#352a14"),
    "tie": ("#e9edf3", "#262c35"),
    "floor-ping": ("#7b8794", "#7f8b99"),
    "floor-tcp": ("#4a5563", "#b4bfcc"),
    "series-0": ("#1d57c0", "#4aa6fe"),
    "series-1": ("#a8440f", "#e2935f"),
    "series-2": ("#47835c", "#25935a"),
    "series-3": ("#760f86", "#ec6fd2"),
    "series-4": ("#9a7b10", "#d9bb20"),
    "series-5": ("#0a7391", "#94ecff"),
    "series-6": ("#786dd7", "#8f6aff"),
    "series-7": ("#840229", "#f0384a"),
}
LIGHT, DARK = ({name: pair[theme] for name, pair in _COLOURS.items()} for theme in (0, 1))
INK, MUTED, GRID, RULE = (f"var(--{name})" for name in ("ink", "muted", "grid", "rule"))
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
